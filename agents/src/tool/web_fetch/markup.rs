//! Whether markup is such that laying it out would take for ever: time grows with the square of the depth. Pure.

/// Deepest nesting that is laid out. Pages of people stay below a hundred.
const DEPTH: usize = 500;
/// Longest tag, in bytes: time grows with the square of the number of attributes, too.
const TAG: usize = 64 * 1024;

/// Elements that have no content, or that end where the next of their kind begins.
const FLAT: [&str; 30] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "p",
    "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "html", "head",
    "body",
];

/// Elements in which nothing is a tag but their own end.
const RAW: [&str; 8] = ["script", "style", "textarea", "title", "noscript", "iframe", "xmp", "noembed"];

/// Says what is wrong with the markup, if it isn't to be laid out.
pub(super) fn objection(html: &str) -> Option<&'static str> {
    let mut depth = 0_usize;
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let is_end = rest.starts_with('/');
        let tag = rest.trim_start_matches('/');
        let name: String =
            tag.chars().take_while(char::is_ascii_alphanumeric).take(16).collect::<String>().to_ascii_lowercase();
        if name.is_empty() {
            continue;
        }
        let length = tag.find('>').unwrap_or(tag.len());
        if length > TAG {
            return Some("one of its tags is longer than 64 KB");
        }
        rest = &tag[length..];
        if is_end {
            depth = depth.saturating_sub(usize::from(!FLAT.contains(&name.as_str())));
        } else if RAW.contains(&name.as_str()) {
            rest = rest
                .match_indices("</")
                .find(|(at, _)| starts_with(&rest[at + 2..], &name))
                .map_or("", |(at, _)| &rest[at..]);
            depth += 1;
        } else if !FLAT.contains(&name.as_str()) {
            depth += 1;
            if depth > DEPTH {
                return Some("its markup is nested more than 500 deep");
            }
        }
    }
    None
}

fn starts_with(text: &str, name: &str) -> bool {
    text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_pages_are_laid_out_and_hostile_ones_are_not() {
        let long_list = format!("<ul>{}</ul>", "<li>x<p>y<br>".repeat(10_000));
        let script = format!("<script>{}</script><p>x", "'<div>'".repeat(10_000));
        let closed = "<div><span>x</span></div>".repeat(10_000);
        for fine in [long_list, script, closed, "a < b".repeat(10_000), "<!-- <div> -->".repeat(10_000)] {
            assert_eq!(objection(&fine), None);
        }
        assert!(objection(&"<div>".repeat(501)).is_some());
        assert!(objection(&"<UL><li>".repeat(501)).is_some());
        assert!(objection(&format!("<a {}>", "b=1 ".repeat(20_000))).is_some());
    }
}
