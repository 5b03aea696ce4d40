//! A proxy before a database that can lose an answer: the statement is made, and nobody learns of it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use anyhow::Result;

/// Hands bytes on in both directions.
pub struct Proxy {
    pub port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_armed: AtomicBool,
    seen: AtomicUsize,
}

impl Proxy {
    /// Stands before a port of this machine and looks for `word` in what clients send.
    pub fn start(target_port: u16, word: &'static str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let proxy = Self { port: listener.local_addr()?.port(), state: Arc::default() };
        let state = Arc::clone(&proxy.state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if let Ok(server) = TcpStream::connect(("127.0.0.1", target_port)) {
                    carry(client, server, word, &state);
                }
            }
        });
        Ok(proxy)
    }

    /// The next statement with the word gets no answer; its connection ends instead.
    pub fn lose_next_answer(&self) {
        self.state.is_armed.store(true, Ordering::SeqCst);
    }

    /// How many statements with the word have passed.
    pub fn seen(&self) -> usize {
        self.state.seen.load(Ordering::SeqCst)
    }
}

fn carry(client: TcpStream, server: TcpStream, word: &'static str, state: &Arc<State>) {
    let is_losing = Arc::new(AtomicBool::new(false));
    let (Ok(from_client), Ok(to_server)) = (client.try_clone(), server.try_clone()) else { return };
    let (state, losing) = (Arc::clone(state), Arc::clone(&is_losing));
    thread::spawn(move || {
        copy(from_client, to_server, |bytes| {
            if bytes.windows(word.len()).any(|window| window == word.as_bytes()) {
                state.seen.fetch_add(1, Ordering::SeqCst);
                losing.store(state.is_armed.swap(false, Ordering::SeqCst), Ordering::SeqCst);
            }
            true
        });
    });
    // When the answer of the server is there, what was asked for is done.
    thread::spawn(move || copy(server, client, |_| !is_losing.load(Ordering::SeqCst)));
}

/// Ends both when one has ended, or when `may_pass` says no.
fn copy(mut source: TcpStream, mut target: TcpStream, mut may_pass: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        if !may_pass(&buffer[..count]) || target.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // They may be closed already.
    let _ = source.shutdown(Shutdown::Both);
    let _ = target.shutdown(Shutdown::Both);
}
