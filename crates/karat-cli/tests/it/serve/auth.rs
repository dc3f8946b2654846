//! Authentication, host checks and security headers.

use super::{Answer, Server, two_runs};
use crate::project::Project;

const TOKEN: &str = "a-token-of-a-fair-length";

#[test]
fn every_response_has_security_headers() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let check = |what: &str, answer: &Answer| {
        for (name, part) in [
            ("content-security-policy", "default-src 'none'"),
            ("content-security-policy", "frame-ancestors 'none'"),
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            let value = answer.header(name).unwrap_or_else(|| panic!("{what} has no {name}"));
            assert!(value.contains(part), "{what}: {name} is {value}");
        }
        let policy = answer.header("content-security-policy").unwrap();
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{what}: {policy}");
    };
    for path in
        ["/", "/runs/latest", "/runs/latest/live", "/runs/latest/report.json", "/runs/none", "/none", "/healthz"]
    {
        check(path, &server.get(path));
    }
    check("a refused POST", &server.ask("POST", "/", &[], ""));
    check("a wrong host", &server.ask("GET", "/", &[("host", "evil.example")], ""));
}

#[test]
fn foreign_host_names_are_refused() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let port = server.address.port();
    let check = |host: &str, status: u16| {
        let answer = server.ask("GET", "/healthz", &[("host", host)], "");
        assert_eq!(answer.status, status, "{host}: {}", answer.body);
    };
    check(&format!("localhost:{port}"), 200);
    check(&format!("127.0.0.1:{port}"), 200);
    check(&format!("[::1]:{port}"), 200);
    check("localhost", 403);
    check(&format!("evil.example:{port}"), 403);
    check(&format!("127.0.0.1.evil.example:{port}"), 403);
    check("", 403);
    // An absolute URL in the request line counts like the header.
    let absolute = format!("http://evil.example:{port}/healthz");
    assert_eq!(server.ask("GET", &absolute, &[], "").status, 403);
}

#[test]
fn configured_token_is_required() {
    let project = two_runs();
    let server = Server::with_variables(&project, &[], &[("KARAT_SERVE_TOKEN", TOKEN)]);
    for path in ["/", "/runs/latest", "/runs/latest/report.json", "/healthz", "/none", "/?token=wrong", "/?token="] {
        let answer = server.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.body.contains("second") && !answer.body.contains(TOKEN), "{path}: {}", answer.body);
    }
    let welcome = server.get(&format!("/runs/latest?token={TOKEN}&x=1"));
    assert_eq!((welcome.status, welcome.header("location")), (303, Some("/runs/latest?x=1")));
    let cookie = welcome.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let inside = server.ask("GET", "/", &[("cookie", cookie)], "");
    assert!(inside.status == 200 && inside.body.contains("second") && !inside.body.contains(TOKEN));
    let other = server.ask("GET", "/", &[("cookie", &format!("other=1; {cookie}x"))], "");
    assert_eq!(other.status, 401);
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let answer = server.ask("GET", "/", &[("authorization", &format!("{scheme} {TOKEN}"))], "");
        assert_eq!(answer.status, 200, "{scheme}");
    }
    assert_eq!(server.ask("GET", "/", &[("authorization", &format!("Basic {TOKEN}"))], "").status, 401);
    // After a cross-site link, a browser would not send the `SameSite` cookie on a redirect, so a page is served
    // instead.
    let from_other_site = server.ask("GET", &format!("/?token={TOKEN}"), &[("sec-fetch-site", "cross-site")], "");
    assert!(from_other_site.status == 200 && from_other_site.header("set-cookie").is_some());
    assert!(from_other_site.body.contains("url=/\"") && !from_other_site.body.contains(TOKEN));
    // A path that looks like another host does not redirect there.
    let away = server.get(&format!("//evil.example/?token={TOKEN}"));
    assert_eq!(away.header("location"), Some("/evil.example/"));
}

#[test]
fn writes_need_label_mode_and_the_same_origin() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let refused = server.ask("POST", "/api/label", &[("content-type", "application/json")], "{}");
    assert!(refused.status == 405 && refused.body.contains("--label"), "{}", refused.body);
    assert_eq!(refused.header("allow"), Some("GET, HEAD"));
    assert_eq!(server.ask("DELETE", "/runs/latest", &[], "").status, 405);
    assert_eq!(
        server.ask("OPTIONS", "/", &[("origin", "https://evil.example")], "").header("access-control-allow-origin"),
        None
    );

    let server = Server::start(&project, &["--label"]);
    let label = server.printed["label_url"].as_str().unwrap();
    let token = label.split("#token=").nth(1).unwrap();
    assert!(token.len() >= 32 && !server.printed["url"].as_str().unwrap().contains(token));
    let host = format!("http://{}", server.address);
    let json = ("content-type", "application/json");
    let with = ("x-karat-token", token);
    let check = |headers: &[(&str, &str)], status: u16| {
        let answer = server.ask("POST", "/nothing", headers, "{}");
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.body);
    };
    // Accepted, so that only the path is wrong.
    check(&[json, with], 404);
    check(&[json, with, ("origin", &host), ("sec-fetch-site", "same-origin")], 404);
    check(&[json], 403);
    check(&[json, ("x-karat-token", "0123456789abcdef0123456789abcdef0123456789abcdef")], 403);
    check(&[json, with, ("origin", "https://evil.example")], 403);
    check(&[json, with, ("origin", "null")], 403);
    check(&[json, with, ("sec-fetch-site", "cross-site")], 403);
    check(&[json, with, ("sec-fetch-site", "same-site")], 403);
    check(&[with, ("content-type", "text/plain")], 415);
    check(&[with, ("content-type", "application/x-www-form-urlencoded")], 415);
    check(&[with], 415);
}

#[test]
fn cross_site_requests_are_refused_except_navigation() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let ask =
        |mode: &str| server.ask("GET", "/healthz", &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode)], "");
    assert_eq!(ask("no-cors").status, 403);
    assert_eq!(ask("cors").status, 403);
    assert_eq!(ask("navigate").status, 200, "links from other sites are allowed");
}
