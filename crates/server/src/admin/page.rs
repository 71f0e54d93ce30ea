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
    use super::*;

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
