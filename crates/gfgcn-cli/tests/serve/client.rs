//! A server that was started for a test, and a client for it.

use crate::sandbox::Sandbox;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;
use ureq::Agent;

/// Nothing takes as long unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Killed when the test is over, however that ends.
pub(crate) struct Server {
    child: Child,
    /// `http://127.0.0.1:PORT`.
    pub(crate) address: String,
    agent: Agent,
}

impl Server {
    /// Starts `gfgcn ARGUMENTS` on any port, and waits until it is ready.
    #[track_caller]
    pub(crate) fn start(sandbox: &Sandbox, arguments: &str) -> Server {
        let mut child = sandbox
            .gfgcn(&format!("{arguments} --port 0 --json"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        let ready = loop {
            let read = stdout.read_line(&mut text).unwrap();
            if let Ok(ready) = serde_json::from_str::<Value>(&text) {
                break ready;
            }
            assert!(read > 0, "gfgcn {arguments} ended: {text} {:?}", child.wait());
        };
        let address = ready["address"].as_str().unwrap_or_else(|| panic!("{ready}"));
        let address = address.trim_end_matches('/').to_owned();
        let config = Agent::config_builder().http_status_as_error(false);
        let agent =
            config.timeout_global(Some(PATIENCE)).max_idle_connections_per_host(64).build().into();
        Server { child, address, agent }
    }

    pub(crate) fn agent(&self) -> Agent {
        self.agent.clone()
    }

    /// Status and body of a GET.
    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        answer(self.agent.get(format!("{}{path}", self.address)).call().unwrap())
    }

    /// Status and body of a POST.
    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        post(&self.agent, &self.address, path, body)
    }

    /// The body of a POST that must succeed.
    #[track_caller]
    pub(crate) fn posted(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.post(path, body);
        assert_eq!(status, 200, "{path} {body}: {answer}");
        answer
    }

    /// The body of a GET that must succeed.
    #[track_caller]
    pub(crate) fn got(&self, path: &str) -> Value {
        let (status, answer) = self.get(path);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        let mut response = self.agent.get(format!("{}{path}", self.address)).call().unwrap();
        response.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap()
    }

    /// What a client gets that sends these very bytes, then nothing more, until the server closes the connection.
    pub(crate) fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may have seen enough before it has all.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn host(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name, and waits for the end; its status, if no signal ended it.
    #[cfg(unix)]
    pub(crate) fn signal(mut self, name: &str) -> Option<i32> {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn post(agent: &Agent, address: &str, path: &str, body: &Value) -> (u16, Value) {
    let request = agent.post(format!("{address}{path}")).header("Content-Type", "application/json");
    answer(request.send(body.to_string()).unwrap())
}

fn answer(mut response: ureq::http::Response<ureq::Body>) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.body_mut().with_config().limit(1 << 28).read_to_string().unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}
