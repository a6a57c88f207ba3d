//! An API server that gives scripted answers, one per request.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::KubeClient;

/// An answer: its code, more headers, its body.
pub type Answer = (u16, &'static str, String);

pub struct Scripted {
    pub client: KubeClient,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    /// Gives these answers in this order; then it answers nothing any more.
    pub async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&answers), Arc::clone(&heard)));
            }
        });
        let mut config = kube::Config::new(url.parse().unwrap());
        config.default_retry = false;
        let client = kube::Client::try_from(config).unwrap();
        let client = KubeClient::new(client, Duration::from_secs(2), Arc::new(|_, _| {}));
        Self { client, asked }
    }

    /// What was asked so far: methods and addresses.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

pub fn json(code: u16, body: &Value) -> Answer {
    (code, "", body.to_string())
}

async fn answer(
    mut stream: TcpStream,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    heard: Arc<Mutex<Vec<String>>>,
) {
    let mut read = Vec::new();
    let head = loop {
        let mut more = [0; 1024];
        match stream.read(&mut more).await {
            Ok(0) | Err(_) => return,
            Ok(count) => read.extend_from_slice(&more[..count]),
        }
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>())
            });
            if body.len() >= length.map_or(0, Result::unwrap) {
                break head.to_owned();
            }
        }
    };
    let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
    heard.lock().unwrap().push(line);
    let next = answers.lock().unwrap().pop_front();
    let Some((code, headers, body)) = next else {
        // Silence.
        return std::future::pending().await;
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {code} x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         {headers}connection: close\r\n\r\n"
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
}
