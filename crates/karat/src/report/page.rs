//! One self-contained page: no script, no network, light and dark, for a screen of any width, a printer and a screen reader.

/// A whole page. The body is markup already; the title is text.
pub(super) fn page(title: &str, body: &str) -> String {
    let title = text(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// Text that stays text, in an element or in quotes. Marks that turn the direction of writing, and other invisible ones, are
/// shown by their number.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_turning(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

fn is_turning(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A value from 0 to 1 and its interval as a bar; what has no value is empty.
pub(super) fn bar(value: Option<f64>, ci: Option<[f64; 2]>) -> String {
    let percent = |share: f64| format!("{:.1}%", share.clamp(0.0, 1.0) * 100.0);
    let Some(value) = value else { return String::from("<span class=\"bar\"></span>") };
    let interval = ci.map_or_else(String::new, |[low, high]| {
        let width = percent(high.clamp(0.0, 1.0) - low.clamp(0.0, 1.0));
        format!("<i style=\"left:{};width:{width}\"></i>", percent(low))
    });
    format!("<span class=\"bar\" aria-hidden=\"true\">{interval}<b style=\"left:{}\"></b></span>", percent(value))
}

const STYLE: &str = "
:root{--ink:#1c2430;--dim:#5a6675;--line:#d8dee6;--paper:#fff;--soft:#f4f6f9;--accent:#1f5fbf;--good:#146c2e;--bad:#a4161a;--warn:#7a4b00}
@media(prefers-color-scheme:dark){:root{--ink:#e8edf3;--dim:#a3afbd;--line:#37414e;--paper:#12171e;--soft:#1b222c;--accent:#7fb0ff;--good:#7fd897;--bad:#ff9a9c;--warn:#f2c277}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
p,li{max-width:60rem}.dim{color:var(--dim)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;margin:.5rem 0;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--dim);padding:.2rem 0}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}
th{font-weight:600}td.n,th.n{text-align:right}td.n,td.i{white-space:nowrap}table.small{width:auto}
tr.head td,tr.head th{font-weight:700}
.bar{display:inline-block;position:relative;width:9rem;height:.9rem;background:var(--soft);border:1px solid var(--line);vertical-align:middle}
@media(max-width:40rem){.bar{width:4.5rem}th,td{padding:.3rem}}
.bar i{position:absolute;top:0;bottom:0;background:var(--accent);opacity:.35}
.bar b{position:absolute;top:-2px;bottom:-2px;width:2px;background:var(--accent)}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}.warn{color:var(--warn)}
.careful{border-left:4px solid var(--warn);background:var(--soft);padding:.5rem 1rem;margin:1rem 0}
.careful h2{margin:.2rem 0}
details{border-bottom:1px solid var(--line);padding:.3rem 0}summary{cursor:pointer}
summary:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media print{details{break-inside:avoid}.bar i,.bar b{print-color-adjust:exact}}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_others_wrote_is_markup() {
        let hostile = "<script>alert('x')</script>\" onload=\"y\u{202e}\u{0}&amp;";
        let shown = text(hostile);
        assert!(!shown.contains(['<', '>', '"', '\'', '\u{202e}', '\u{0}']), "{shown}");
        assert_eq!(text("a < b & \"c\"\n"), "a &lt; b &amp; &quot;c&quot;\n");
        let whole = page(hostile, "");
        assert_eq!(whole.matches("<script").count(), 0);
    }

    #[test]
    fn bars_stay_within_their_track() {
        assert_eq!(bar(None, None), "<span class=\"bar\"></span>");
        let drawn = bar(Some(1.0), Some([0.5, 1.2]));
        assert!(drawn.contains("left:50.0%;width:50.0%") && drawn.contains("left:100.0%"), "{drawn}");
    }
}
