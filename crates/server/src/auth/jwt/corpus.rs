//! Tokens that are good, and tokens that somebody hopes are taken for good ones.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue};
use ring::hmac;
use serde_json::{Value as Json, json};
use treeql::error::Code;

use crate::auth::jwt::options::Options;
use crate::auth::jwt::verifier::Verifier;

const NOW: u64 = 1_538_207_605;
const SECRET: &str = "a secret that is long enough for a test";
const RSA: &str = include_str!("../../../tests/fixtures/jwt/rsa.pem");
const CERTIFICATE: &str = include_str!("../../../tests/fixtures/jwt/rsa.crt");
const P256: &str = include_str!("../../../tests/fixtures/jwt/p256.pem");
const SET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/jwt/jwks.json");
/// Signed by keys that were thrown away: name, tab, token.
const TOKENS: &str = include_str!("../../../tests/fixtures/jwt/tokens.txt");

fn made(name: &str) -> &'static str {
    let line = TOKENS.lines().find(|line| line.split('\t').next() == Some(name));
    line.and_then(|line| line.split_once('\t')).expect("the token is in the file").1
}

fn verifier(options: Options) -> Verifier {
    Verifier::compile(&options).expect("the settings are right")
}

fn with_secret(secret: &str) -> Verifier {
    verifier(Options { secret: secret.into(), ..Options::default() })
}

fn with_secrets(secrets: &str) -> Verifier {
    verifier(Options { secrets: secrets.into(), ..Options::default() })
}

fn sign(algorithm: hmac::Algorithm, secret: &[u8], head: &Json, claims: &Json) -> String {
    let part = |json: &Json| URL_SAFE_NO_PAD.encode(json.to_string());
    let message = format!("{}.{}", part(head), part(claims));
    let tag = hmac::sign(&hmac::Key::new(algorithm, secret), message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag))
}

fn hs256(claims: &Json) -> String {
    sign(hmac::HMAC_SHA256, SECRET.as_bytes(), &json!({"typ": "JWT", "alg": "HS256"}), claims)
}

fn ann() -> Json {
    json!({"sub": "ann", "exp": NOW + 60})
}

fn is_good(verifier: &Verifier, token: &str) -> bool {
    verifier.verify(token, NOW).is_ok()
}

#[test]
fn a_token_of_each_kind_is_good() {
    let secret = with_secret(SECRET);
    for (name, algorithm) in
        [("HS256", hmac::HMAC_SHA256), ("HS384", hmac::HMAC_SHA384), ("HS512", hmac::HMAC_SHA512)]
    {
        let token = sign(algorithm, SECRET.as_bytes(), &json!({"typ": "JWT", "alg": name}), &ann());
        let claims = secret.verify(&token, NOW).expect("it is good");
        assert_eq!(Json::Object((*claims).clone()), ann());
    }
    for key in [RSA, CERTIFICATE] {
        for name in ["RS256", "RS384", "RS512"] {
            let claims = with_secret(key).verify(made(name), NOW).expect("it is good");
            assert_eq!(claims["sub"], "ann");
        }
    }
    assert!(is_good(&with_secret(P256), made("ES256")));
}

#[test]
fn the_token_of_the_reference_is_good() {
    let verifier = verifier(Options {
        secrets: "axpIrCGNGqxzx2R9dtXLIPUSqPo778uhb8CA0F4Hx".into(),
        mode: "optional".into(),
        time: NOW,
        ..Options::default()
    });
    let token = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiw\
                 iYWRtaW4iOnRydWUsImlhdCI6IjE1MzgyMDc2MDUiLCJleHAiOjE1MzgyMDc2MzV9.Z5px_GT15TRKhJCTHhDt5Z6K6LRDSFnLj8U5ok9l7gw";
    let claims = verifier.verify(token, 0).expect("its time is set");
    assert_eq!(claims["name"], "John Doe");
    assert_eq!(verifier.time(5), NOW);
}

#[test]
fn no_signature_is_no_token() {
    for verifier in [with_secret(SECRET), with_secret(RSA), with_secret(P256)] {
        for name in ["none", "None", "NONE", "nOnE", "", "HS256", "RS256", "ES256", "hs256", "HS1", "PS256"] {
            let part = |json: &Json| URL_SAFE_NO_PAD.encode(json.to_string());
            let message = format!("{}.{}", part(&json!({"typ": "JWT", "alg": name})), part(&ann()));
            assert!(!is_good(&verifier, &message), "{name}");
            for signature in ["", "AA", "e30", "=", "."] {
                assert!(!is_good(&verifier, &format!("{message}.{signature}")), "{name} {signature}");
            }
            assert!(!is_good(&verifier, &format!("{message}.{}", "A".repeat(86))), "{name} with zeros");
        }
    }
}

#[test]
fn a_public_key_is_no_secret() {
    let bytes =
        |pem: &str| STANDARD.decode(pem.lines().filter(|line| !line.starts_with('-')).collect::<String>());
    for pem in [RSA, P256] {
        let verifiers = [
            with_secret(pem),
            with_secrets(pem),
            with_secrets(&format!("k:{pem}")),
            verifier(Options {
                secret: pem.into(),
                algorithms: "HS256,RS256,ES256".into(),
                ..Options::default()
            }),
        ];
        let der = bytes(pem).unwrap();
        let secrets = [pem.as_bytes(), pem.trim().as_bytes(), pem.trim_end().as_bytes(), &der, b""];
        for secret in secrets {
            for (name, algorithm) in [("HS256", hmac::HMAC_SHA256), ("HS512", hmac::HMAC_SHA512)] {
                for head in
                    [json!({"typ": "JWT", "alg": name}), json!({"typ": "JWT", "alg": name, "kid": "k"})]
                {
                    let token = sign(algorithm, secret, &head, &ann());
                    assert!(!verifiers.iter().any(|verifier| is_good(verifier, &token)), "{head}");
                }
            }
        }
    }
}

#[test]
fn an_algorithm_needs_its_key() {
    let made_for = |name: &str, key: &str| is_good(&with_secret(key), made(name));
    assert!(!made_for("ES256", RSA) && !made_for("RS256", P256));
    assert!(!made_for("RS256", SECRET) && !made_for("ES256", SECRET));
    assert!(!made_for("ES256 in DER", P256));
    // The name of another algorithm of the family, above the same signature.
    let (_, rest) = made("RS256").split_once('.').unwrap();
    let head = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"RS512"}"#);
    assert!(!is_good(&with_secret(RSA), &format!("{head}.{rest}")));
}

#[test]
fn only_algorithms_of_the_list_count() {
    let options = |algorithms: &str| Options {
        secret: SECRET.into(),
        algorithms: algorithms.into(),
        ..Options::default()
    };
    assert!(is_good(&verifier(options("HS256, HS512")), &hs256(&ann())));
    assert!(!is_good(&verifier(options("HS512")), &hs256(&ann())));
    let error = |algorithms: &str| Verifier::compile(&options(algorithms)).err().unwrap();
    assert!(error("RS256").contains("no key can verify"));
    assert!(error("none").contains("unknown 'none'"));
}

#[test]
fn an_empty_key_is_refused_at_the_start() {
    for (secret, secrets) in [("", ""), (" ", ""), ("", "k:"), ("", "k: "), ("", ",")] {
        let options = Options { secret: secret.into(), secrets: secrets.into(), ..Options::default() };
        assert!(Verifier::compile(&options).is_err(), "{secret:?} {secrets:?}");
    }
    let token = sign(hmac::HMAC_SHA256, b"", &json!({"typ": "JWT", "alg": "HS256"}), &ann());
    assert!(!is_good(&with_secret(SECRET), &token));
}

#[test]
fn a_key_id_selects_the_key() {
    let verifier = with_secrets("first,k1:second,k2:third");
    let good = |head: Json, secret: &str| {
        is_good(&verifier, &sign(hmac::HMAC_SHA256, secret.as_bytes(), &head, &ann()))
    };
    let head = |kid: Json| json!({"typ": "JWT", "alg": "HS256", "kid": kid});
    assert!(good(json!({"typ": "JWT", "alg": "HS256"}), "first"));
    assert!(good(head(json!("k1")), "second") && good(head(json!("k2")), "third"));
    assert!(good(head(json!(0)), "first") && good(head(json!("0")), "first"));
    assert!(!good(head(json!("k1")), "first") && !good(head(json!("k2")), "second"));
    assert!(!good(json!({"typ": "JWT", "alg": "HS256"}), "second"));
    let others =
        [json!("k3"), json!(""), json!("K1"), json!(1), json!(-1), json!(["k1"]), json!({}), json!(true)];
    for kid in others.into_iter().chain([json!("../../dev/null"), json!("' or 1=1 --")]) {
        for secret in ["first", "second", "third", ""] {
            assert!(!good(head(kid.clone()), secret), "{kid} {secret}");
        }
    }
}

#[test]
fn keys_of_a_set_are_found_by_their_ids() {
    let verifier = verifier(Options { jwks_file: SET.into(), ..Options::default() });
    assert!(is_good(&verifier, made("RS256 kid=rsa-1")) && is_good(&verifier, made("ES256 kid=p256-1")));
    assert!(!is_good(&verifier, made("RS256")) && !is_good(&verifier, made("ES256")));
    // The set says that the key is for RS256 only.
    assert!(!is_good(&verifier, made("RS384 kid=rsa-1")));
}

#[test]
fn a_tampered_token_is_bad() {
    for (verifier, token) in
        [(with_secret(SECRET), hs256(&ann())), (with_secret(P256), made("ES256").to_owned())]
    {
        assert!(is_good(&verifier, &token));
        for position in 0..token.len() {
            let mut bytes = token.clone().into_bytes();
            bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
            assert!(!is_good(&verifier, &String::from_utf8(bytes).unwrap()), "byte {position}");
        }
        let (message, signature) = token.rsplit_once('.').unwrap();
        let padded = URL_SAFE.encode(URL_SAFE_NO_PAD.decode(signature).unwrap());
        let others = [
            format!("{token}."),
            format!(".{token}"),
            format!("{token}.x"),
            format!("{token} "),
            format!("{token}A"),
            format!("{message}.{padded}"),
            format!("{message}..{signature}"),
            token[..token.len() - 1].to_owned(),
        ];
        for other in others {
            assert!(!is_good(&verifier, &other), "{other}");
        }
    }
}

#[test]
fn a_head_that_we_do_not_understand_is_bad() {
    let good = |head: Json| {
        is_good(&with_secret(SECRET), &sign(hmac::HMAC_SHA256, SECRET.as_bytes(), &head, &ann()))
    };
    assert!(good(json!({"typ": "JWT", "alg": "HS256", "x": 1})));
    for typ in [json!("jwt"), json!("JWS"), json!(""), json!(null), json!(["JWT"]), json!(true)] {
        assert!(!good(json!({"typ": typ, "alg": "HS256"})), "{typ}");
    }
    assert!(!good(json!({"alg": "HS256"})) && !good(json!({"typ": "JWT"})));
    assert!(!good(json!({"typ": "JWT", "alg": ["HS256"]})));
    assert!(!good(json!({"typ": "JWT", "alg": "HS256", "crit": ["exp"], "exp": 1})));
    assert!(!good(json!(["JWT", "HS256"])) && !good(json!("JWT")) && !good(json!(null)));
}

#[test]
fn claims_are_an_object_that_says_something() {
    let verifier = with_secret(SECRET);
    for claims in [json!({}), json!([]), json!([1]), json!("a"), json!(1), json!(null), json!(true)] {
        assert!(!is_good(&verifier, &hs256(&claims)), "{claims}");
    }
    assert!(is_good(&verifier, &hs256(&json!({"a": null}))));
}

#[test]
fn a_known_token_expires_all_the_same() {
    let verifier = with_secret(SECRET);
    let token = hs256(&json!({"sub": 1, "nbf": NOW, "exp": NOW + 60}));
    let good = |now: u64| verifier.verify(&token, now).is_ok();
    assert!(!good(NOW - 6) && good(NOW - 5) && good(NOW) && good(NOW + 65));
    assert!(!good(NOW + 66) && !good(NOW - 6) && good(NOW + 65));
}

#[test]
fn audiences_and_issuers_of_the_settings_count() {
    let options = Options {
        secret: SECRET.into(),
        audiences: "shop, blog".into(),
        issuers: "https://id.example.com".into(),
        ..Options::default()
    };
    let verifier = verifier(options);
    let good = |claims: Json| is_good(&verifier, &hs256(&claims));
    assert!(good(json!({"aud": ["x", "blog"], "iss": "https://id.example.com"})));
    assert!(!good(json!({"aud": "x", "iss": "https://id.example.com"})));
    assert!(!good(json!({"aud": "shop", "iss": "https://id.example.com/"})));
    assert!(!good(json!({"aud": "shop"})) && !good(json!({"iss": "https://id.example.com"})));
}

#[test]
fn long_and_odd_texts_are_bad_and_quick() {
    let verifier = with_secret(SECRET);
    let large = hs256(&json!({"sub": "x".repeat(9_000)}));
    assert!(large.len() < 16 * 1024 && is_good(&verifier, &large));
    assert!(!is_good(&verifier, &hs256(&json!({"sub": "x".repeat(16_000)}))));
    let deep = format!("{}1{}", r#"{"a":"#.repeat(1_000), "}".repeat(1_000));
    let deep: String =
        [r#"{"typ":"JWT","alg":"HS256"}"#, &deep].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), deep.as_bytes());
    assert!(!is_good(&verifier, &format!("{deep}.{}", URL_SAFE_NO_PAD.encode(tag))));
    for text in ["", ".", "..", "...", "invalid", "a.b.c", "ä.ö.ü", "e30.e30.", "e30.e30.e30", "\0.\0.\0"]
    {
        assert!(!is_good(&verifier, text), "{text:?}");
    }
    for megabyte in
        ["A".repeat(1 << 20), ".".repeat(1 << 20), format!("{}{}", hs256(&ann()), " ".repeat(1 << 20))]
    {
        assert!(!is_good(&verifier, &megabyte));
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

#[test]
fn a_token_stands_after_bearer() {
    let verifier = with_secret(SECRET);
    let check = |value: &str| {
        let headers: HeaderMap =
            [("x-authorization".parse().unwrap(), HeaderValue::from_str(value).unwrap())]
                .into_iter()
                .collect();
        block_on(verifier.check(&headers, NOW))
    };
    let token = hs256(&ann());
    assert_eq!(check(&format!("Bearer {token}")).unwrap().unwrap()["sub"], "ann");
    for none in [&*token, &format!("bearer {token}"), &format!("Basic {token}"), "Bearer", ""] {
        assert_eq!(check(none), Ok(None), "{none}");
    }
    assert_eq!(block_on(verifier.check(&HeaderMap::new(), NOW)), Ok(None));
    for bad in ["Bearer invalid", "Bearer ", &format!("Bearer {token}x"), &"Bearer A".repeat(100_000)] {
        let error = check(bad).unwrap_err();
        assert_eq!((error.code, &*error.argument), (Code::AuthenticationFailed, "JWT"));
    }
}
