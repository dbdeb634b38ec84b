//! A server on a port of its own, for one test.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;

use host_sim::net::{self, Settings};
use protocol_core::door::Allowance;
use tokio::sync::oneshot;

use crate::{client::Client, toy::Toy};

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    /// Starts with the smallest board's settings, changed as the test needs it.
    pub(crate) fn with(change: impl FnOnce(&mut Settings) + Send + 'static) -> Self {
        Self::behind(|_| Toy::open(), change)
    }

    /// Starts with a door that is shut.
    pub(crate) fn guarded(change: impl FnOnce(&mut Settings) + Send + 'static) -> Self {
        Self::behind(Toy::guarded, change)
    }

    fn behind(toy: fn(Allowance) -> Toy, change: impl FnOnce(&mut Settings) + Send + 'static) -> Self {
        let (address_sender, address) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let mut settings = Settings::DEVICE;
            settings.connections = 32;
            settings.limits.connections_per_address = 32;
            settings.limits.body_bytes = 64 * 1024;
            settings.names.hosts = &["mote.local", "a"];
            change(&mut settings);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = net::bind(IpAddr::V4(Ipv4Addr::LOCALHOST), 0).await.expect("a free port");
                address_sender.send(listener.local_addr().expect("an address")).expect("somebody who waits");
                let stopped = async {
                    let _ = stopped.await;
                };
                net::run(listener, &toy(settings.limits.allowance), &settings, stopped).await;
            });
        });
        let address = address.recv().expect("an address");
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// Asks the server to stop; [`Drop`] waits for it.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "the server panicked");
    }
}
