//! A closed loop: each connection sends its next request when the last one is answered.

use crate::Result;
use crate::http::Connection;
use crate::process::{Process, own_cpu};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// What one workload did.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Time under load.
    elapsed: Duration,
    /// CPU time of the server, where it is a process of ours.
    server_cpu: Option<Duration>,
    /// CPU time of this client.
    client_cpu: Duration,
    /// Each answered request, in microseconds.
    latencies: Vec<u32>,
    /// Replies other than success, and the first one's body.
    refused: u64,
    refusal: Option<String>,
}

/// Where the load goes.
#[derive(Clone, Copy)]
pub(crate) struct Server<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) process: Option<&'a Process>,
}

/// Loads a server for a while. `next` makes the request number `n` of connection `c`.
pub(crate) fn run(
    server: Server<'_>,
    connections: usize,
    time: Duration,
    next: impl Fn(usize, usize) -> Vec<u8> + Sync,
) -> Result<Outcome> {
    let cpu = || server.process.map(Process::cpu).transpose();
    let (server_before, client_before, started) = (cpu()?, own_cpu()?, Instant::now());
    let mut all = std::thread::scope(|scope| {
        let next = &next;
        let workers: Vec<_> = (0..connections)
            .map(|c| scope.spawn(move || one(server.address, started + time, |n| next(c, n))))
            .collect();
        let mut all = Outcome::default();
        for worker in workers {
            all.join(worker.join().map_err(|_| "a connection's thread panicked")??);
        }
        Result::Ok(all)
    })?;
    all.elapsed = started.elapsed();
    all.client_cpu = own_cpu()?.saturating_sub(client_before);
    all.server_cpu = cpu()?.zip(server_before).map(|(after, before)| after.saturating_sub(before));
    Ok(all)
}

/// Sends one request.
pub(crate) fn single(server: Server<'_>, request: &[u8]) -> Result<Outcome> {
    let mut connection = Connection::open(server.address)?;
    let cpu = || server.process.map(Process::cpu).transpose();
    let (before, started) = (cpu()?, Instant::now());
    let mut outcome = Outcome::default();
    outcome.send(&mut connection, request)?;
    outcome.elapsed = started.elapsed();
    outcome.server_cpu = cpu()?.zip(before).map(|(after, before)| after.saturating_sub(before));
    Ok(outcome)
}

/// One connection's part of the load.
fn one(address: SocketAddr, until: Instant, next: impl Fn(usize) -> Vec<u8>) -> Result<Outcome> {
    let mut connection = Connection::open(address)?;
    let mut outcome = Outcome::default();
    for n in 0.. {
        if Instant::now() >= until {
            break;
        }
        outcome.send(&mut connection, &next(n))?;
    }
    Ok(outcome)
}

impl Outcome {
    fn send(&mut self, connection: &mut Connection, request: &[u8]) -> Result<()> {
        let started = Instant::now();
        let status = connection.send(request)?;
        if (200..300).contains(&status) {
            self.latencies.push(u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX));
        } else {
            self.refused += 1;
            self.refusal.get_or_insert_with(|| format!("{status} {}", String::from_utf8_lossy(connection.body())));
        }
        Ok(())
    }

    /// Adds the numbers of another part of the same load, or of another round of it.
    pub(crate) fn join(&mut self, other: Self) {
        self.elapsed += other.elapsed;
        self.client_cpu += other.client_cpu;
        self.server_cpu = [self.server_cpu, other.server_cpu].into_iter().flatten().reduce(|a, b| a + b);
        self.latencies.extend(other.latencies);
        self.refused += other.refused;
        self.refusal = self.refusal.take().or(other.refusal);
    }

    /// Successful requests a second.
    pub(crate) fn throughput(&self) -> f64 {
        self.done() / self.elapsed.as_secs_f64().max(f64::EPSILON)
    }

    /// CPU milliseconds of the server for each successful request.
    pub(crate) fn server_ms(&self) -> Option<f64> {
        self.server_cpu.map(|cpu| cpu.as_secs_f64() * 1000.0 / self.done().max(1.0))
    }

    /// Successful requests; far below 2^53.
    #[expect(clippy::cast_precision_loss, reason = "counts of requests are exact in a double")]
    fn done(&self) -> f64 {
        self.latencies.len() as f64
    }

    /// One line of the table whose head is [`HEAD`].
    pub(crate) fn line(mut self, name: &str) -> String {
        self.latencies.sort_unstable();
        let at = |percent: usize| -> f64 {
            let place = (self.latencies.len() * percent / 100).min(self.latencies.len().saturating_sub(1));
            f64::from(self.latencies.get(place).copied().unwrap_or(0)) / 1000.0
        };
        let micros = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{:.0}", ms * 1000.0));
        let client = self.client_cpu.as_secs_f64() * 1000.0 / self.done().max(1.0);
        let (rate, refused) = (self.throughput(), self.refused);
        let (server, client) = (micros(self.server_ms()), micros(Some(client)));
        let (p50, p99) = (at(50), at(99));
        let why = self.refusal.map(|text| format!("  first: {}", text.chars().take(160).collect::<String>()));
        let why = why.unwrap_or_default();
        format!("{name:<34}{rate:>9.0}{p50:>10.2}{p99:>10.2}{server:>12}{client:>12}{refused:>9}{why}")
    }
}

/// The head of the table; CPU is microseconds a request.
pub(crate) const HEAD: &str =
    "                                      req/s    p50 ms    p99 ms  server CPU  client CPU  refused";
