//! A headless Chromium that is driven through a pipe (`--remote-debugging-pipe`): messages of JSON, each with a zero byte behind it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use howdah_needs::{Lack, skipped};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Names that packages give it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-headless-shell", "google-chrome"];

/// The name of the one that is installed; `None`, said aloud: there is none.
pub fn browser() -> Option<&'static str> {
    let is_there = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
    let found = BROWSERS.iter().find(is_there).copied();
    if found.is_none() {
        skipped(Lack::Program, format_args!("there is none of {}", BROWSERS.join(", ")));
    }
    found
}

/// A browser with one page.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    number: u64,
    _profile: TempDir,
}

impl Browser {
    /// Starts it, if there is one, as wide as a phone of that many points.
    pub fn start(width: u32, height: u32) -> Option<Self> {
        let profile = tempfile::tempdir().expect("a directory");
        // It reads commands from descriptor 3 and writes answers to 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>&1", browser()?])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--remote-debugging-pipe", "--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let commands = process.stdin.take().expect("piped");
        let answers = BufReader::new(process.stdout.take().expect("piped"));
        let mut browser = Self { process, commands, answers, session: None, number: 0, _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        let phone = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": true });
        browser.call("Emulation.setDeviceMetricsOverride", phone);
        Some(browser)
    }

    /// Opens a page.
    pub fn open(&mut self, url: &str) {
        // Another fragment alone would load nothing.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// The value of an expression; promises are waited for.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// The whole page as a picture: PNG in base 64.
    pub fn picture(&mut self) -> String {
        let mut answer = self.call("Page.captureScreenshot", json!({ "captureBeyondViewport": true }));
        let Value::String(picture) = answer["data"].take() else { panic!("no picture: {answer}") };
        picture
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).expect("it listens");
        loop {
            let mut answer = Vec::new();
            self.answers.read_until(0, &mut answer).expect("it answers");
            assert_eq!(answer.pop(), Some(0), "the browser ended");
            let mut answer: Value = serde_json::from_slice(&answer).expect("JSON");
            // Others are events.
            if answer["id"] == json!(self.number) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
