//! A way to PostgreSQL on which a connection can be lost at the worst moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// What the client sends to end a transaction.
const COMMIT: &[u8] = b"COMMIT\0";

/// Passes on what is said, until it is told to cut.
pub(crate) struct Proxy {
    url: String,
    plan: Arc<Plan>,
}

/// Which COMMIT is the last that a connection sees.
#[derive(Default)]
struct Plan {
    /// How many there are to go; none is cut while this is negative or zero.
    to_go: AtomicI64,
    /// 1: it reaches the database, and only its answer is lost.
    delivered: AtomicI64,
}

impl Proxy {
    /// Stands in front of this database.
    pub(crate) async fn before(database_url: &str) -> Self {
        let mut url = Url::parse(database_url).unwrap();
        let target = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let plan = Arc::new(Plan::default());
        tokio::spawn(accept(listener, target, Arc::clone(&plan)));
        Self { url: url.into(), plan }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Cuts the connection that sends the `nth` COMMIT from now on, before or after it reached the database.
    pub(crate) fn cut(&self, nth: i64, delivered: bool) {
        self.plan.delivered.store(delivered.into(), Ordering::SeqCst);
        self.plan.to_go.store(nth, Ordering::SeqCst);
    }
}

async fn accept(listener: TcpListener, target: String, plan: Arc<Plan>) {
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(&target).await.unwrap();
        tokio::spawn(pass(client, server, Arc::clone(&plan)));
    }
}

/// Passes bytes on in both directions, until one side ends or the plan says so.
async fn pass(mut client: TcpStream, mut server: TcpStream, plan: Arc<Plan>) {
    let (mut up, mut down) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(count @ 1..) = read else { return };
                let said = &up[..count];
                let commits = said.windows(COMMIT.len()).any(|part| part == COMMIT);
                if commits && plan.to_go.fetch_sub(1, Ordering::SeqCst) == 1 {
                    if plan.delivered.load(Ordering::SeqCst) == 1 {
                        server.write_all(said).await.unwrap();
                        // The answer means that it is done.
                        let _ = server.read(&mut down).await;
                    }
                    return;
                }
                if server.write_all(said).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut down) => {
                let Ok(count @ 1..) = read else { return };
                if client.write_all(&down[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}
