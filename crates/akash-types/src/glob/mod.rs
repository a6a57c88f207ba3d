//! The glob that requirement keys are: Go's `filepath.Match` on Unix, result for result.
//!
//! The chain decides with it whether a bid may stand, so its odd corners are kept: a chunk between
//! two stars is taken where it first fits and never moved again, and a class (unlike `*` and `?`)
//! may match `/`.

/// Whether the whole of `name` matches `pattern`.
///
/// `*` matches any run without `/`, `?` one character except `/`, `[a-z]` and `[^a-z]` one
/// character of a class, `\x` the character x. A malformed pattern matches nothing.
pub fn glob_match(pattern: &str, name: &str) -> bool {
    // Bytes, because after a star Go tries every byte offset, also inside a character.
    let (mut pattern, mut name) = (pattern.as_bytes(), name.as_bytes());
    while !pattern.is_empty() {
        let (after_star, chunk, rest) = next_chunk(pattern);
        if after_star && chunk.is_empty() {
            return !name.contains(&b'/');
        }
        let is_last = rest.is_empty();
        // Without a star only offset 0; with one, as far as the next separator.
        let reach = match after_star {
            true => name.iter().position(|&byte| byte == b'/').unwrap_or(name.len()),
            false => 0,
        };
        let remainder = (0..=reach)
            .filter_map(|offset| name.get(offset..))
            .filter_map(|tail| match_chunk(chunk, tail))
            .find(|remainder| remainder.is_empty() || !is_last);
        match remainder {
            Some(remainder) => name = remainder,
            None => return false,
        }
        pattern = rest;
    }
    name.is_empty()
}

/// Splits off leading stars and what follows them up to the next star outside a class.
fn next_chunk(pattern: &[u8]) -> (bool, &[u8], &[u8]) {
    let stars = pattern.iter().take_while(|&&byte| byte == b'*').count();
    let pattern = pattern.get(stars..).unwrap_or_default();
    let (mut in_class, mut escaped) = (false, false);
    let end = pattern.iter().position(|&byte| {
        if escaped {
            escaped = false;
            return false;
        }
        match byte {
            b'\\' => escaped = true,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'*' => return !in_class,
            _ => {}
        }
        false
    });
    let (chunk, rest) = pattern.split_at_checked(end.unwrap_or(pattern.len())).unwrap_or_default();
    (stars > 0, chunk, rest)
}

/// Matches a chunk without stars at the start of `name`; returns what is left of `name`, or `None`
/// when it does not match or the chunk is malformed.
fn match_chunk<'n>(mut chunk: &[u8], mut name: &'n [u8]) -> Option<&'n [u8]> {
    while let Some((&operator, after)) = chunk.split_first() {
        (chunk, name) = match operator {
            b'[' => {
                let (character, name) = first_char(name)?;
                (match_class(after, character)?, name)
            }
            b'?' => match first_char(name)? {
                ('/', _) => return None,
                (_, name) => (after, name),
            },
            _ => {
                let (literal, after) = match operator {
                    b'\\' => after.split_first()?,
                    _ => (&operator, after),
                };
                (after, name.strip_prefix(std::slice::from_ref(literal))?)
            }
        };
    }
    Some(name)
}

/// Reads a class after its `[`; returns the pattern after its `]` if `character` is in it.
fn match_class(class: &[u8], character: char) -> Option<&[u8]> {
    let (negated, mut class) = match class.strip_prefix(b"^") {
        Some(class) => (true, class),
        None => (false, class),
    };
    let mut matched = false;
    let mut ranges = 0_usize;
    loop {
        match class.strip_prefix(b"]") {
            Some(after) if ranges > 0 => return (matched != negated).then_some(after),
            _ => {}
        }
        let (low, after) = class_char(class)?;
        let (high, after) = match after.strip_prefix(b"-") {
            Some(after) => class_char(after)?,
            None => (low, after),
        };
        matched |= (low..=high).contains(&character);
        ranges += 1;
        class = after;
    }
}

/// One possibly escaped character of a class. Something must follow it, at least the `]`.
fn class_char(class: &[u8]) -> Option<(char, &[u8])> {
    let class = match class.first()? {
        b'-' | b']' => return None,
        b'\\' => class.get(1..)?,
        _ => class,
    };
    let (character, after) = first_char(class)?;
    let is_broken = character == char::REPLACEMENT_CHARACTER && class.len() == after.len() + 1;
    (!is_broken && !after.is_empty()).then_some((character, after))
}

/// The first character; a byte that starts none reads as the replacement character, as in Go.
fn first_char(bytes: &[u8]) -> Option<(char, &[u8])> {
    let (&first, after_first) = bytes.split_first()?;
    let length = match first {
        0x00..=0x7f => return Some((char::from(first), after_first)),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let decoded = bytes
        .split_at_checked(length)
        .and_then(|(head, after)| Some((std::str::from_utf8(head).ok()?.chars().next()?, after)));
    decoded.or(Some((char::REPLACEMENT_CHARACTER, after_first)))
}

#[cfg(test)]
mod tests;
