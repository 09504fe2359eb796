//! Requests that nobody should send: the right status, a clear message, and the server goes on.

use crate::client::Server;
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.communities("data", 6);
    sandbox.ok("fit data --depth 2 --keep-training -o m.model");
    sandbox
}

#[track_caller]
fn still_serves(server: &Server) {
    assert_eq!(server.get("/v1/nodes/ants-0").0, 200);
}

/// Nothing about the machine is said.
#[track_caller]
fn is_discreet(server: &Server, answer: &str) {
    let folder = std::fs::read_link(format!("/proc/{}/cwd", server.pid())).unwrap();
    for secret in
        [folder.to_str().unwrap(), ".rs:", "panicked", "/src/", "RUST_BACKTRACE", "m.model.journal"]
    {
        assert!(!answer.contains(secret), "{secret} in {answer}");
    }
}

#[test]
fn requests_that_say_something_impossible() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "serve m.model data");
    let node = |features: Value, edges: Value| json!({ "new": [{ "id": "x", "features": features, "edges": edges }] });
    let tensor = |shape: Value, datatype: &str, data: Value| json!({ "inputs": [{ "name": "node", "shape": shape, "datatype": datatype, "data": data }] });
    let infer = "/v2/models/m/infer";
    let table = [
        ("/v1/predict", json!({ "nodes": ["nobody"] }), 404, "no node \"nobody\""),
        ("/v1/predict", json!({ "nodes": [1e30] }), 400, "did not match"),
        ("/v1/predict", json!({ "nodes": "ants-0" }), 400, "sequence"),
        ("/v1/predict", json!({ "node": ["ants-0"] }), 400, "unknown field"),
        ("/v1/predict", json!([]), 400, "invalid"),
        ("/v1/predict", json!({ "nodes": ["ants-0"], "coverage": 2 }), 422, "coverage"),
        ("/v1/predict", json!({ "nodes": ["x".repeat(100_000)] }), 404, "xxx\"…"),
        ("/v1/predict", node(json!([1, 2]), json!([])), 422, "2 features, the others have 3"),
        ("/v1/predict", node(json!({ "teeth": 1 }), json!([])), 422, "no feature \"teeth\""),
        ("/v1/predict", node(json!({ "legs": 1e39 }), json!([])), 422, "finite"),
        ("/v1/predict", node(json!({ "legs": "many" }), json!([])), 400, "did not match"),
        ("/v1/predict", node(json!({}), json!(["nobody"])), 404, "nobody"),
        (
            "/v1/predict",
            node(json!({}), json!([{ "to": "ants-0", "from": "ants-1" }])),
            400,
            "either",
        ),
        ("/v1/predict", node(json!({}), json!([{ "to": "ants-0", "weight": 0 }])), 422, "positive"),
        (
            "/v1/predict",
            node(json!({}), json!([{ "to": "ants-0", "type": "likes" }])),
            422,
            "all of one kind",
        ),
        ("/v1/predict", json!({ "new": [{ "id": "ants-0" }] }), 409, "there already"),
        ("/v1/predict", json!({ "new": [{ "id": "x" }, { "id": "x" }] }), 409, "there already"),
        ("/v1/predict", json!({ "edges": [["ants-0", "ants-3"]] }), 400, "without new nodes"),
        ("/v1/explain", json!({}), 400, "which node"),
        ("/v1/explain", json!({ "node": "ants-0", "class": "cats" }), 404, "no class \"cats\""),
        ("/v1/explain", json!({ "node": "ants-0", "top": -1 }), 400, "invalid value"),
        ("/v1/update", json!({}), 400, "nothing to learn"),
        ("/v1/update", json!({ "labels": { "nobody": "ants" } }), 404, "nobody"),
        ("/v1/update", json!({ "labels": { "ants-0": 7 } }), 422, "name of a class"),
        ("/v1/update", json!({ "labels": { "ants-0": "" } }), 422, "1 to 1000 bytes"),
        ("/v1/update", json!({ "labels": { "ants-0": null } }), 400, "did not match"),
        ("/v1/update", json!({ "edges": [["ants-0"]] }), 400, "did not match"),
        ("/v1/forget", json!({}), 400, "nothing to forget"),
        ("/v1/forget", json!({ "labels_of": ["ants-4"] }), 422, "not trained on"),
        (
            "/v1/forget",
            json!({ "labels_of": ["ants-0", "ants-1", "bees-0", "bees-1"] }),
            422,
            "no label would be left",
        ),
        ("/v1/forget", json!({ "edges": [["ants-0", "ants-3"]] }), 422, "no edge"),
        ("/v1/forget", json!({ "nodes": ["nobody"] }), 404, "nobody"),
        ("/v1/rollback", json!({ "to": 99 }), 404, "no version 99"),
        ("/v1/rollback", json!({ "to": 0 }), 404, "no version 0"),
        (infer, json!({ "inputs": [] }), 400, "missing"),
        (infer, tensor(json!([2]), "BYTES", json!(["ants-0"])), 400, "shape"),
        (infer, tensor(json!([u64::MAX, 9]), "BYTES", json!(["ants-0"])), 400, "shape"),
        (infer, tensor(json!([1]), "FP32", json!([0.5])), 400, "type"),
        (infer, tensor(json!([1]), "INT64", json!(["ants-0"])), 400, "type"),
        (infer, tensor(json!([1]), "BYTES", json!(["nobody"])), 404, "nobody"),
        ("/v2/models/other/infer", json!({ "inputs": [] }), 404, "only model"),
        (
            "/v2/models/m/versions/9/infer",
            json!({ "inputs": [] }),
            404,
            "version that is served is 1",
        ),
    ];
    for (path, body, expected, why) in table {
        let (status, answer) = server.post(path, &body);
        let message = answer["error"].as_str().unwrap_or_else(|| panic!("{path} {body}: {answer}"));
        assert_eq!(status, expected, "{path} {body}: {answer}");
        assert!(message.contains(why) && message.len() < 400, "{path}: {message}");
        is_discreet(&server, message);
        still_serves(&server);
    }
    assert_eq!(server.got("/v1/info")["version"], 1, "nothing has changed");
}

/// A request with some headers and a body, as bytes.
fn request(head: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = head.replace('\n', "\r\n").into_bytes();
    bytes.extend(b"\r\n\r\n");
    bytes.extend(body);
    bytes
}

#[test]
fn bytes_that_are_no_decent_request() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "serve m.model data --body-limit 1");
    let host = format!("Host: {}\nConnection: close", server.host());
    let post = |length: usize, body: &[u8]| {
        let kind = "Content-Type: application/json";
        let head = format!("POST /v1/predict HTTP/1.1\n{host}\n{kind}\nContent-Length: {length}");
        request(&head, body)
    };
    let whole = |body: &[u8]| post(body.len(), body);
    let get = |path: &str| request(&format!("GET {path} HTTP/1.1\n{host}"), b"");
    let many = |count: usize, size: usize| -> String {
        (0..count).map(|k| format!("\nX-{k}: {}", "a".repeat(size))).collect()
    };
    let with = |headers: &str| request(&format!("GET /v1/info HTTP/1.1\n{host}{headers}"), b"");
    let deep = "[".repeat(100_000);
    let large = format!("{{\"nodes\": [\"{}\"]}}", "a".repeat(2 << 20));
    let in_parts = |body: &[u8]| {
        let kind = "Content-Type: application/json\nTransfer-Encoding: chunked";
        request(&format!("POST /v1/predict HTTP/1.1\n{host}\n{kind}"), body)
    };
    let part = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("too large, as it says", post(1 << 40, b"{"), "413"),
        ("too large", whole(large.as_bytes()), "413"),
        ("too large, in parts that do not say so", in_parts(part.repeat(40).as_bytes()), "413"),
        ("deep JSON", whole(deep.as_bytes()), "400"),
        ("NaN", whole(b"{\"coverage\": NaN}"), "400"),
        ("infinity", whole(b"{\"coverage\": 1e999}"), "400"),
        ("not UTF-8", whole(b"{\"nodes\": [\"\xff\xfe\"]}"), "400"),
        ("nothing", whole(b""), "400"),
        ("half of it", whole(b"{\"nodes\": ["), "400"),
        ("more than one", whole(b"{}{}"), "400"),
        (
            "another type",
            request(
                &format!(
                    "POST /v1/predict HTTP/1.1\n{host}\nContent-Type: text/plain\nContent-Length: 2"
                ),
                b"{}",
            ),
            "415",
        ),
        (
            "no type",
            request(&format!("POST /v1/predict HTTP/1.1\n{host}\nContent-Length: 2"), b"{}"),
            "415",
        ),
        (
            "compressed",
            request(
                &format!(
                    "POST /v1/predict HTTP/1.1\n{host}\nContent-Type: application/json\nContent-Encoding: gzip\nContent-Length: 4"
                ),
                b"\x1f\x8b\x08\x00",
            ),
            "400",
        ),
        ("chunks that are none", in_parts(b"zz\r\n{}\r\n0\r\n\r\n"), "400"),
        (
            "two lengths",
            request(
                &format!("POST /v1/predict HTTP/1.1\n{host}\nContent-Length: 2\nContent-Length: 3"),
                b"{}",
            ),
            "400",
        ),
        ("a path above", get("/../../../../etc/passwd"), "404"),
        ("an encoded path", get("/v1/nodes/..%2f..%2f..%2fetc%2fpasswd"), "404"),
        ("an encoded NUL", get("/v1/nodes/%00"), "404"),
        ("an encoded byte", get("/v1/nodes/%ff"), "400"),
        ("a file", get("/v1/model/../../m.model"), "404"),
        ("a long path", get(&format!("/{}", "a".repeat(60_000))), "4"),
        ("another method", request(&format!("DELETE /v1/info HTTP/1.1\n{host}"), b""), "405"),
        (
            "an unknown method",
            request(&format!("FROBNICATE /v1/info HTTP/1.1\n{host}"), b""),
            "405",
        ),
        ("many headers", with(&many(300, 5)), "431"),
        ("large headers", with(&many(4, 40_000)), "431"),
        (
            "another host",
            request("GET /v1/info HTTP/1.1\nHost: evil.example\nConnection: close", b""),
            "403",
        ),
        ("no host", request("GET /v1/info HTTP/1.0", b""), "403"),
        ("another origin", with("\nOrigin: https://evil.example"), "403"),
        (
            "a page of another site",
            request(
                &format!(
                    "POST /v1/forget HTTP/1.1\n{host}\nSec-Fetch-Site: cross-site\nContent-Type: application/json\nContent-Length: 2"
                ),
                b"{}",
            ),
            "403",
        ),
        (
            "a preflight",
            request(
                &format!(
                    "OPTIONS /v1/update HTTP/1.1\n{host}\nOrigin: https://evil.example\nAccess-Control-Request-Method: POST"
                ),
                b"",
            ),
            "403",
        ),
        (
            "garbage",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 nothing of sense\r\n\r\n".to_vec(),
            "400",
        ),
    ];
    for (what, bytes, expected) in table {
        let answer = server.raw(&bytes);
        let status = answer.strip_prefix("HTTP/1.1 ").or(answer.strip_prefix("HTTP/1.0 "));
        assert!(status.is_some_and(|s| s.starts_with(expected)), "{what}: {answer:.300}");
        assert!(!answer.to_ascii_lowercase().contains("access-control-allow"), "{what}: {answer}");
        is_discreet(&server, &answer);
        still_serves(&server);
    }
}

/// Says something, and another byte a second until it is cut off; what was answered.
fn drip(mut stream: TcpStream, beginning: String) -> JoinHandle<String> {
    thread::spawn(move || {
        stream.write_all(beginning.as_bytes()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let (mut answer, mut bytes) = (Vec::new(), [0; 1024]);
        for _ in 0..60 {
            match stream.read(&mut bytes) {
                Ok(0) => return String::from_utf8_lossy(&answer).into_owned(),
                Ok(count) => answer.extend(&bytes[..count]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    let _ = stream.write_all(b"a");
                }
                Err(_) => return String::from_utf8_lossy(&answer).into_owned(),
            }
        }
        panic!("a client that says a byte a second is served for ever");
    })
}

#[test]
fn clients_that_are_slow_or_idle_or_gone() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "serve m.model data");
    let host = server.host().to_owned();
    // A thousand that say nothing.
    let idle: Vec<_> = (0..1000).map(|_| server.connect()).collect();
    still_serves(&server);
    // One that says a little and waits, and one that has said half of its body.
    let mut slow = server.connect();
    slow.write_all(b"GET /v1/info HTTP/1.1\r\nHost: ").unwrap();
    let mut half = server.connect();
    let head = format!(
        "POST /v1/update HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{\"labels\""
    );
    half.write_all(head.as_bytes()).unwrap();
    // Two that say a little more every second, of their headers and of their body.
    let header = format!("GET /v1/info HTTP/1.1\r\nHost: {host}\r\nX-Slow: ");
    let dripping = [drip(server.connect(), header), drip(server.connect(), head.clone())];
    // One that asks for more than it reads.
    let mut deaf = server.connect();
    deaf.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let asked = format!("GET /openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n").repeat(100);
    let filled = (0..1000).any(|_| deaf.write_all(asked.as_bytes()).is_err());
    assert!(filled, "answers that nobody reads are not piled up");
    // One that has gone in the middle of it.
    let mut gone = server.connect();
    gone.write_all(head.as_bytes()).unwrap();
    gone.shutdown(Shutdown::Both).unwrap();
    still_serves(&server);
    // All of them are told, or cut off, in the end.
    let mut answer = String::new();
    half.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    let [headers, body] = dripping.map(|client| client.join().unwrap());
    assert!(headers.is_empty() || headers.starts_with("HTTP/1.1 408"), "{headers}");
    assert!(body.starts_with("HTTP/1.1 408"), "{body}");
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    for mut stream in idle {
        let _ = stream.read_to_end(&mut rest);
    }
    still_serves(&server);
    assert_eq!(server.got("/v1/info")["version"], 1);
}

#[test]
fn a_token_is_needed_where_there_is_one() {
    let sandbox = sandbox();
    let token = "0123456789abcdef0123456789abcdef";
    sandbox.write("token", &format!("{token}\n"));
    let server = Server::start(&sandbox, "serve m.model data --token-file token");
    let ask = |path: &str, header: Option<String>| {
        let request = server.agent().get(format!("{}{path}", server.address));
        let request = match &header {
            Some(value) => request.header("Authorization", value),
            None => request,
        };
        let response = request.call().unwrap();
        (response.status().as_u16(), response.headers().contains_key("www-authenticate"))
    };
    for wrong in [
        None,
        Some(String::new()),
        Some("Bearer".into()),
        Some("Bearer ".into()),
        Some(format!("Bearer {}", &token[1..])),
        Some(format!("Bearer {token}0")),
        Some(format!("Basic {token}")),
        Some(format!("Bearer {}", token.to_uppercase())),
    ] {
        for path in ["/v1/info", "/metrics", "/openapi.json", "/v2", "/nothing"] {
            assert_eq!(ask(path, wrong.clone()), (401, true), "{path} {wrong:?}");
        }
    }
    assert_eq!(ask("/v1/info", Some(format!("Bearer {token}"))), (200, false));
    assert_eq!(ask("/v2/health/ready", None), (200, false));
}

/// Pages of one other origin, if they are asked for.
#[test]
fn an_origin_is_let_in_when_it_is_named() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "serve m.model data --allow-origin https://good.example");
    let ask = |origin: &str| {
        let request = server.agent().get(format!("{}/v1/info", server.address));
        let response = request.header("Origin", origin).call().unwrap();
        let allowed = response.headers().get("access-control-allow-origin");
        (response.status().as_u16(), allowed.map(|value| value.to_str().unwrap().to_owned()))
    };
    assert_eq!(ask("https://good.example"), (200, Some("https://good.example".into())));
    assert_eq!(ask("https://evil.example").0, 403);
}
