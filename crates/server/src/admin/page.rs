//! The live page: files that are part of the program. They hold nothing of this server, so that who opens them needs no token; what
//! they show they ask for.

use std::sync::Arc;

use axum::Router;
use axum::http::HeaderName;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::routing::get;

use super::asked::Asked;

/// The page may load and ask what comes from this server, and nothing else; nothing written in it is run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const ICON: &str = "image/svg+xml";

/// Path, kind, content.
const FILES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("page/index.html")),
    ("/page/style.css", STYLE, include_str!("page/style.css")),
    ("/page/icon.svg", ICON, include_str!("page/icon.svg")),
    ("/page/main.js", SCRIPT, include_str!("page/main.js")),
    ("/page/ask.js", SCRIPT, include_str!("page/ask.js")),
    ("/page/charts.js", SCRIPT, include_str!("page/charts.js")),
    ("/page/clients.js", SCRIPT, include_str!("page/clients.js")),
    ("/page/curves.js", SCRIPT, include_str!("page/curves.js")),
    ("/page/detail.js", SCRIPT, include_str!("page/detail.js")),
    ("/page/exports.js", SCRIPT, include_str!("page/exports.js")),
    ("/page/heads.js", SCRIPT, include_str!("page/heads.js")),
    ("/page/health.js", SCRIPT, include_str!("page/health.js")),
    ("/page/make.js", SCRIPT, include_str!("page/make.js")),
    ("/page/space.js", SCRIPT, include_str!("page/space.js")),
    ("/page/uplinks.js", SCRIPT, include_str!("page/uplinks.js")),
    ("/page/words.js", SCRIPT, include_str!("page/words.js")),
];

/// Where it is.
pub fn routes() -> Router<Arc<Asked>> {
    FILES.iter().fold(Router::new(), |router, &(path, kind, content)| {
        router.route(path, get(move || async move { (headers(kind), content) }))
    })
}

fn headers(kind: &'static str) -> [(HeaderName, &'static str); 3] {
    [(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, POLICY), (REFERRER_POLICY, "no-referrer")]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use howdah_needs::{Lack, skipped};

    use super::*;

    /// Runs a script over the page's own modules; what it throws fails the test.
    fn run_by_node(script: &str) {
        let home = tempfile::tempdir().expect("a directory");
        for (path, kind, content) in FILES {
            if let (Some(name), true) = (path.strip_prefix("/page/"), *kind == SCRIPT) {
                fs::write(home.path().join(name), content).expect("written");
            }
        }
        fs::write(home.path().join("package.json"), r#"{"type": "module"}"#).expect("written");
        fs::write(home.path().join("test.js"), script).expect("written");
        let Ok(output) = Command::new("node").arg(home.path().join("test.js")).output() else {
            skipped(Lack::Program, "there is no node");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn an_export_without_room_is_never_well() {
        run_by_node(
            r#"
            import assert from 'node:assert/strict';
            import { judge } from './health.js';
            import { fullness, used } from './space.js';
            const whole = { total_bytes: 100e9, free_bytes: 87e9, available_bytes: 60e9, total_files: 0, free_files: 0 };
            const judged = (change, more = {}) => judge({
              clients: [], memory: { used: { sending: 0, unread: 0 }, budget_bytes: 1, pressure: 'none' },
              workers: { calls_in_line: 0 }, errors: {}, latency: null,
              exports: [{ export: '/data', capacity: { ...whole, ...change } }], ...more,
            });
            // As df(1) rounds it up: 13 of 73 GB, where 27 GB are kept for root.
            assert.equal(Math.ceil(used(whole) * 100), 18);
            assert.equal(used({ ...whole, total_bytes: 0, free_bytes: 0, available_bytes: 0 }), 0);
            assert.equal(judged({}).level, 'good');
            for (const [change, headline] of [
              [{ free_bytes: 0, available_bytes: 0 }, 'Export /data is full'],
              [{ available_bytes: 0 }, 'Export /data is full'],
              [{ total_files: 1000, free_files: 0 }, 'Export /data is full'],
              [{ free_bytes: 1e8, available_bytes: 1e8 }, 'Export /data is nearly full'],
              [{ total_files: 1000, free_files: 9 }, 'Export /data is nearly full'],
            ]) {
              const health = judged(change);
              assert.deepEqual([health.level, health.headline], ['bad', headline]);
              assert.notEqual(fullness({ ...whole, ...change }), '');
            }
            for (const status of ['NOSPC', 'DQUOT', 'IO', 'SERVERFAULT', 'NXIO']) {
              assert.equal(judged({}, { errors: { [status]: 2 } }).level, 'bad', status);
            }
            assert.equal(judged({}, { unwritable: 'no space left' }).headline, 'New NFSv4 clients wait');
            "#,
        );
    }

    #[test]
    fn the_page_loads_what_there_is_and_nothing_from_elsewhere() {
        for (path, _, content) in FILES {
            for place in
                content.split(['"', '\'']).filter(|text| text.starts_with("/page/") || text.ends_with(".js"))
            {
                let place = place.replace("./", "/page/");
                assert!(FILES.iter().any(|(known, _, _)| *known == place), "{path} loads {place}");
            }
            let foreign = content.replace("http://www.w3.org/2000/svg", "");
            assert!(!foreign.contains("://"), "{path} names another host");
            assert!(!foreign.contains("innerHTML"), "{path}: what clients are called is text, not markup");
        }
    }
}
