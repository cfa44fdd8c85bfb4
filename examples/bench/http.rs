//! One kept-alive HTTP/1.1 connection, blocking and thin: client and server share the machine, so what the client
//! costs is missing in the server's numbers.

use crate::Result;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a reply may take. A server that hangs ends the run instead of stretching it.
const LIMIT: Duration = Duration::from_secs(30);

/// A connection, and the body of the last reply.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, LIMIT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LIMIT))?;
        Ok(Self { reader: BufReader::with_capacity(64 * 1024, stream), line: String::new(), body: Vec::new() })
    }

    /// Sends a request as [`request`] makes it and answers the status.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<u16> {
        self.reader.get_mut().write_all(request)?;
        let status = self.line()?.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or("no HTTP reply")?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = true;
            }
        }
        self.body.clear();
        if chunked {
            self.chunks()?;
        } else {
            self.take(length)?;
        }
        Ok(status)
    }

    /// The body of the last reply.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    fn chunks(&mut self) -> Result<()> {
        loop {
            let size = self.line()?.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16)?;
            self.take(size)?;
            self.line()?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, length: u64) -> Result<()> {
        let read = (&mut self.reader).take(length).read_to_end(&mut self.body)?;
        if read as u64 == length { Ok(()) } else { Err("the connection broke within a reply".into()) }
    }

    fn line(&mut self) -> Result<&str> {
        self.line.clear();
        if self.reader.read_line(&mut self.line)? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(self.line.trim_end())
    }
}

/// A body, and what it is.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    None,
    Json(&'a str),
    Form(&'a str),
}

/// The bytes of a request. Who sends it shows a token, or nothing.
pub(crate) fn request(method: &str, address: SocketAddr, path: &str, token: Option<&str>, body: Body<'_>) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n");
    // Writing to a text does not fail.
    if let Some(token) = token {
        let _ = write!(text, "Authorization: Bearer {token}\r\n");
    }
    let (kind, body) = match body {
        Body::None => ("", ""),
        Body::Json(body) => ("application/json", body),
        Body::Form(body) => ("application/x-www-form-urlencoded", body),
    };
    if !kind.is_empty() {
        let _ = write!(text, "Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
    }
    let _ = write!(text, "\r\n{body}");
    text.into_bytes()
}
