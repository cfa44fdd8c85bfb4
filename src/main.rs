//! The `guillemot` binary.

use clap::Parser;
use guillemot::cli::{self, Cli};
use std::io::Write;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr(), "guillemot: no threads can be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(cli::run(Cli::parse()));
    // A read of a file may hang for ever, on a dead network mount: the process ends all the same.
    runtime.shutdown_background();
    code
}
