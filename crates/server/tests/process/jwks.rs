//! Keys that an issuer publishes: a real server of the test's own answers with them, or badly.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

use crate::program::files::{blog, folder, text};
use crate::program::running::{Running, run, start, wait_until};
use crate::program::wire::{Answer, exchange};

/// A server that answers every request with the same bytes, and counts them.
struct Issuer {
    port: u16,
    answer: Arc<Mutex<Vec<u8>>>,
    count: Arc<AtomicUsize>,
}

impl Issuer {
    fn start() -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (answer, count): (Arc<Mutex<Vec<u8>>>, Arc<AtomicUsize>) = Default::default();
        let (shown, counted) = (Arc::clone(&answer), Arc::clone(&count));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                    head.push(byte[0]);
                }
                counted.fetch_add(1, Ordering::SeqCst);
                let answer = shown.lock().unwrap().clone();
                drop(stream.write_all(&answer));
            }
        });
        Issuer { port, answer, count }
    }

    fn say(&self, status: &str, body: &str) {
        let length = body.len();
        let answer =
            format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        *self.answer.lock().unwrap() = answer.into_bytes();
    }

    fn publish(&self, keys: &[&Key]) {
        let keys: Vec<String> = keys.iter().map(|key| key.published()).collect();
        self.say("200 OK", &format!(r#"{{"keys":[{}]}}"#, keys.join(",")));
    }
}

struct Key {
    id: &'static str,
    pair: EcdsaKeyPair,
}

impl Key {
    fn new(id: &'static str) -> Key {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).unwrap();
        Key { id, pair }
    }

    fn published(&self) -> String {
        let point = self.pair.public_key().as_ref();
        let [x, y] = [&point[1..33], &point[33..]].map(|number| URL_SAFE_NO_PAD.encode(number));
        format!(r#"{{"kty":"EC","crv":"P-256","use":"sig","kid":"{}","x":"{x}","y":"{y}"}}"#, self.id)
    }

    fn token(&self) -> String {
        let head = URL_SAFE_NO_PAD.encode(format!(r#"{{"typ":"JWT","alg":"ES256","kid":"{}"}}"#, self.id));
        let claims = URL_SAFE_NO_PAD.encode(r#"{"sub":"ann","exp":4000000000}"#);
        let message = format!("{head}.{claims}");
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn status(server: &Running, token: &str) -> u16 {
    let bytes = format!(
        "GET /records/tags/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Authorization: Bearer {token}\r\n\r\n"
    );
    Answer::parse(&exchange(server.port, bytes.as_bytes())).unwrap().status
}

fn serve(folder: &tempfile::TempDir, issuer: &Issuer) -> Running {
    let url = format!("jwtAuth.jwksUrl=http://127.0.0.1:{}/keys", issuer.port);
    let database = blog(folder);
    let fixed = ["--listen", "127.0.0.1:0", "--set", "middlewares=jwtAuth", "--set", "jwtAuth.jwksPause=1"];
    start(&[&["serve", text(&database)], &fixed[..], &["--set", &url]].concat(), &[])
}

#[test]
fn a_new_key_is_fetched_when_a_token_names_it_and_a_withdrawn_one_is_forgotten() {
    let (folder, issuer) = (folder(), Issuer::start());
    let (one, two) = (Key::new("one"), Key::new("two"));
    issuer.publish(&[&one]);
    let server = serve(&folder, &issuer);
    assert_eq!(status(&server, &one.token()), 200);
    issuer.publish(&[&two]);
    wait_until("the new key", || status(&server, &two.token()) == 200);
    assert_eq!(status(&server, &one.token()), 403);
    server.stop();
}

#[test]
fn tokens_with_unknown_keys_do_not_make_a_flood_of_fetches() {
    let (folder, issuer) = (folder(), Issuer::start());
    let (one, unknown) = (Key::new("one"), Key::new("unknown"));
    issuer.publish(&[&one]);
    let server = serve(&folder, &issuer);
    assert_eq!(status(&server, &one.token()), 200);
    let before = issuer.count.load(Ordering::SeqCst);
    let started = std::time::Instant::now();
    let mut asked = 0;
    while started.elapsed().as_secs() < 3 {
        assert_eq!(status(&server, &unknown.token()), 403);
        asked += 1;
    }
    let fetched = issuer.count.load(Ordering::SeqCst) - before;
    // At most one in each second that has begun.
    let seconds = usize::try_from(started.elapsed().as_secs()).unwrap();
    assert!(fetched <= seconds + 1 && asked > fetched, "{fetched} fetches for {asked} tokens");
    server.stop();
}

#[test]
fn a_bad_answer_leaves_the_keys_as_they_are() {
    let (folder, issuer) = (folder(), Issuer::start());
    let (one, other) = (Key::new("one"), Key::new("other"));
    issuer.publish(&[&one]);
    let server = serve(&folder, &issuer);
    assert_eq!(status(&server, &one.token()), 200);
    let moved = format!("302 Found\r\nLocation: http://127.0.0.1:{}/elsewhere", issuer.port);
    for (state, body) in [
        ("200 OK", " ".repeat(1 << 20)),
        ("200 OK", "{".into()),
        ("500 No", String::new()),
        (&*moved, String::new()),
    ] {
        issuer.say(state, &body);
        let before = issuer.count.load(Ordering::SeqCst);
        wait_until("another fetch", || {
            status(&server, &other.token());
            issuer.count.load(Ordering::SeqCst) > before
        });
        assert_eq!(status(&server, &one.token()), 200);
    }
    let errors = server.stop();
    assert!(errors.contains("cannot be fetched; those known stay"), "{errors}");
}

#[test]
fn another_machine_is_asked_over_tls_only() {
    let folder = folder();
    let database = blog(&folder);
    let url = "jwtAuth.jwksUrl=http://issuer.example/keys";
    let ended = run(&["check", text(&database), "--set", "middlewares=jwtAuth", "--set", url], &[]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.errors.contains("begins with https://"), "{}", ended.errors);
}
