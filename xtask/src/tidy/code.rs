//! The code of a Rust file without its comments and literals, so that a rule about `unsafe` is not fired by a comment
//! that speaks of it.
//!
//! Lines keep their numbers and columns: everything that is taken out becomes spaces.

/// Rust code whose comments, strings and character literals are blank.
#[derive(Debug)]
pub(crate) struct Code(String);

impl Code {
    /// Blanks what is not code in `source`.
    pub(crate) fn of(source: &str) -> Self {
        let bytes = source.as_bytes();
        let mut out = bytes.to_vec();
        let mut at = 0;
        while at < bytes.len() {
            match blank_length(bytes, at) {
                Some(length) => {
                    let end = (at + length).min(bytes.len());
                    for byte in &mut out[at..end] {
                        if *byte != b'\n' {
                            *byte = b' ';
                        }
                    }
                    at = end;
                }
                None => at += 1,
            }
        }
        // Only whole comments and literals were replaced, so what is left is UTF-8 as before.
        Self(String::from_utf8_lossy(&out).into_owned())
    }

    /// Every word (identifier, keyword, number) as (line from 1, word, what follows it on the line).
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        self.0.lines().enumerate().flat_map(|(index, line)| {
            let is_word = |c: char| c == '_' || c.is_alphanumeric();
            line.split(move |c| !is_word(c)).filter(|word| !word.is_empty()).map(move |word| {
                // A word of `split` is a part of `line`, so its end is an offset into it.
                let end = word.as_ptr() as usize - line.as_ptr() as usize + word.len();
                (index + 1, word, &line[end..])
            })
        })
    }

    /// The lines where `word` stands as a whole word.
    pub(crate) fn lines_with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.words().filter(move |&(_, found, _)| found == word).map(|(line, _, _)| line)
    }

    /// Whether `text` stands anywhere, spaces left out on both sides.
    pub(crate) fn contains_ignoring_spaces(&self, text: &str) -> bool {
        let squeeze = |text: &str| text.split_whitespace().collect::<String>();
        squeeze(&self.0).contains(&squeeze(text))
    }
}

/// The length of the comment or literal that starts at `at`; `None` when code does.
fn blank_length(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => Some(rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())),
        [b'/', b'*', ..] => Some(block_comment_length(rest)),
        [b'"', ..] => Some(1 + escaped_length(&rest[1..], b'"')),
        [b'r', b'"' | b'#', ..] if starts_word(bytes, at) => raw_string_length(rest),
        [b'\'', b'\\', ..] => Some(1 + escaped_length(&rest[1..], b'\'')),
        [b'\'', ..] => char_literal_length(rest),
        _ => None,
    }
}

/// Whether a word starts at `at`, where the `b` or `c` of a byte or C string may stand before it.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |b: &u8| *b == b'_' || b.is_ascii_alphanumeric() || !b.is_ascii();
    let before = &bytes[..at];
    let before = match before {
        [head @ .., b'b' | b'c'] => head,
        _ => before,
    };
    !before.last().is_some_and(is_word)
}

/// The length of a block comment, which may hold others.
fn block_comment_length(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length up to and with the next `quote` that no backslash stands before.
fn escaped_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of `r"..."` or `r##"..."##`; `None` for a raw identifier such as `r#type`.
fn raw_string_length(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&b| b == b'#').count();
    let body = 1 + hashes + 1;
    if rest.get(body - 1) != Some(&b'"') {
        return None;
    }
    let end = rest[body..]
        .windows(1 + hashes)
        .position(|window| window[0] == b'"' && window[1..].iter().all(|&b| b == b'#'));
    Some(end.map_or(rest.len(), |end| body + end + 1 + hashes))
}

/// The length of `'x'`; `None` for a lifetime.
fn char_literal_length(rest: &[u8]) -> Option<usize> {
    // A character is one to four bytes long, all but the first of which have 10 as their top bits.
    let more = rest.get(2..)?.iter().take_while(|&&b| b & 0b1100_0000 == 0b1000_0000).count();
    (rest.get(2 + more) == Some(&b'\'')).then_some(2 + more + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(source: &str) -> Vec<String> {
        Code::of(source).words().map(|(_, word, _)| word.to_owned()).collect()
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(words_of("a // unsafe\nb /* x /* y */ unsafe */ c"), ["a", "b", "c"]);
        assert_eq!(words_of("//! unsafe\n/// dbg!()\nfn f() {}"), ["fn", "f"]);
    }

    #[test]
    fn literals_are_not_code() {
        assert_eq!(words_of(r#"a("unsafe \" unsafe", b"unsafe", c"unsafe") z"#), ["a", "b", "c", "z"]);
        assert_eq!(words_of("a(r\"unsafe\\\", br#\"un\"safe\"#) z"), ["a", "b", "z"]);
        assert_eq!(words_of(r"a('u', '\'', b'u', 'ü', '\u{41}') z"), ["a", "b", "z"]);
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        assert_eq!(
            words_of("fn f<'a>(x: &'a str, r#type: u8)"),
            ["fn", "f", "a", "x", "a", "str", "r", "type", "u8"]
        );
    }

    #[test]
    fn a_quote_in_a_comment_or_an_open_string_loses_no_line() {
        let code = Code::of("// don't\nunsafe {}\n\"open\nunsafe");
        assert_eq!(code.lines_with("unsafe").collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn words_are_whole_and_come_with_their_line_and_what_follows() {
        let code = Code::of("#![forbid(unsafe_code)]\nx.todo(); todo!()\n");
        assert_eq!(code.lines_with("unsafe").count(), 0);
        let todos: Vec<_> = code.words().filter(|&(_, word, _)| word == "todo").collect();
        assert_eq!(todos, [(2, "todo", "(); todo!()"), (2, "todo", "!()")]);
    }

    #[test]
    fn spaces_do_not_hide_an_attribute() {
        assert!(Code::of("#![ forbid( unsafe_code ) ]").contains_ignoring_spaces("#![forbid(unsafe_code)]"));
        assert!(!Code::of("// #![forbid(unsafe_code)]").contains_ignoring_spaces("#![forbid(unsafe_code)]"));
    }
}
