//! Servers as processes of their own: started, watched through `/proc`, and killed in the end.

use crate::Result;
use crate::http::{Body, Connection, request};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Linux counts the CPU time of a process in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// A running server. Dropping it kills it.
pub(crate) struct Process {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// From its start to its first answer.
    pub(crate) first_answer: Duration,
}

impl Process {
    /// Starts this very program as a server (see `main`), waits for its `listening on` line, and asks `path` once.
    pub(crate) fn start(arguments: &[&str], path: &str) -> Result<Self> {
        let started = Instant::now();
        let mut child = own_command()?.args(arguments).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
        let address = address_of(&line).ok_or_else(|| format!("the server did not start: {line}"))?;
        let status = Connection::open(address)?.send(&request("GET", address, path, None, Body::None))?;
        let first_answer = started.elapsed();
        match status {
            200 => Ok(Self { child, address, first_answer }),
            other => Err(format!("{path} answers {other}").into()),
        }
    }

    /// CPU time of all its threads since its start.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        cpu_of(&self.child.id().to_string())
    }

    /// `VmRSS` (memory now) or `VmHWM` (its highest), in KiB.
    pub(crate) fn memory(&self, key: &str) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        Ok(line.and_then(|value| value.trim().split(' ').next()).ok_or("no such line in /proc/PID/status")?.parse()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This very program, without settings of whoever runs it: they must not change what is measured.
pub(crate) fn own_command() -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GUILLEMOT_") || name == "STORAGE_EMULATOR_HOST" {
            command.env_remove(name);
        }
    }
    Ok(command)
}

/// CPU time of this process.
pub(crate) fn own_cpu() -> Result<Duration> {
    cpu_of("self")
}

/// Fields 14 and 15 of `/proc/PID/stat`: time in user and in kernel mode. The name, field 2, may hold anything.
fn cpu_of(pid: &str) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, after_name) = stat.rsplit_once(')').ok_or("no name in /proc/PID/stat")?;
    let mut fields = after_name.split_whitespace().skip(11);
    let mut ticks = || -> Result<u32> { Ok(fields.next().ok_or("/proc/PID/stat is too short")?.parse()?) };
    Ok(TICK * (ticks()? + ticks()?))
}

/// The address in `listening on http://ADDRESS/…`.
fn address_of(line: &str) -> Option<SocketAddr> {
    line.strip_prefix("listening on http://")?.split('/').next()?.trim().parse().ok()
}
