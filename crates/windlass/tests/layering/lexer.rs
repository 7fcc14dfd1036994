//! Rust source as identifiers and punctuation, without comments, strings and character literals.

/// An identifier, or one character of punctuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Word(String),
    Mark(char),
}

impl Token {
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Mark(_) => None,
        }
    }

    pub fn is(&self, mark: char) -> bool {
        *self == Self::Mark(mark)
    }
}

/// The tokens of Rust source. A number is a run of letters and digits, hence a word that names
/// nothing.
pub fn tokens(source: &str) -> Vec<Token> {
    let (mut out, mut i) = (Vec::new(), 0);
    while i < source.len() {
        let rest = &source[i..];
        let first = rest.chars().next().expect("not at the end");
        if rest.starts_with("//") {
            i += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            i += block_comment_len(rest);
        } else if let Some(len) = string_len(rest).or_else(|| char_literal_len(rest)) {
            i += len;
        } else if first.is_ascii_alphanumeric() || first == '_' {
            let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            out.push(Token::Word(rest[..len].to_owned()));
            i += len;
        } else {
            if !first.is_whitespace() {
                out.push(Token::Mark(first));
            }
            i += first.len_utf8();
        }
    }
    out
}

/// The identifiers of Rust source.
pub fn identifiers(source: &str) -> Vec<String> {
    let is_name = |word: &String| !word.starts_with(|c: char| c.is_ascii_digit());
    tokens(source).iter().filter_map(|token| token.word().map(str::to_owned)).filter(is_name).collect()
}

fn block_comment_len(rest: &str) -> usize {
    let (mut depth, mut i) = (0usize, 0);
    while i < rest.len() {
        if rest.as_bytes()[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if rest.as_bytes()[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else {
            i += 1;
        }
    }
    rest.len()
}

/// Length of the string literal (plain, byte or raw) that starts here, if one does.
fn string_len(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('b').unwrap_or(rest);
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.bytes().take_while(|&b| b == b'#').count();
        if raw.as_bytes().get(hashes) != Some(&b'"') {
            return None;
        }
        let close = format!("\"{}", "#".repeat(hashes));
        let start = rest.len() - raw.len() + hashes + 1;
        return Some(rest[start..].find(&close).map_or(rest.len(), |at| start + at + close.len()));
    }
    let body = body.strip_prefix('"')?;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(rest.len() - body.len() + at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

/// Length of the character literal that starts here; `None` for a lifetime.
fn char_literal_len(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let mut chars = body.char_indices();
    let (_, first) = chars.next()?;
    if first == '\\' {
        return body[1..].char_indices().skip(1).find(|&(_, c)| c == '\'').map(|(at, _)| at + 3);
    }
    chars.next().filter(|&(_, c)| c == '\'').map(|(at, _)| at + 2)
}

#[test]
fn the_lexer_of_this_test_sees_code_only() {
    let source = r###"
        // unsafe in a comment /* unsafe */
        /* unsafe /* nested unsafe */ unsafe */
        fn f<'a>(x: &'a str) -> char { let s = "unsafe \" unsafe"; let r = r#"unsafe " unsafe"#; let b = b"unsafe"; '\'' }
        let q = '"'; unsafe_name();
    "###;
    let found = identifiers(source);
    assert!(found.contains(&"unsafe_name".to_owned()), "{found:?}");
    assert!(!found.contains(&"unsafe".to_owned()), "{found:?}");
    assert!(identifiers("let c = 'x'; unsafe { g() }").contains(&"unsafe".to_owned()));
}
