use super::*;
use proptest::prelude::*;

/// Rows confirmed with Go's `filepath.Match`.
const TABLE: &[(&str, &str, bool)] = &[
    ("", "", true),
    ("", "a", false),
    ("abc", "abc", true),
    ("*", "abc", true),
    ("*", "", true),
    ("*", "a/b", false),
    ("*c", "abc", true),
    ("a*", "a", true),
    ("a*", "ab/c", false),
    ("a*/b", "abc/b", true),
    ("a*/b", "a/c/b", false),
    ("a*b*c*d*e*/f", "axbxcxdxe/f", true),
    ("a*b*c*d*e*/f", "axbxcxdxe/xxx/f", false),
    ("a*b?c*x", "abxbbxdbxebxczzx", true),
    ("a*b?c*x", "abxbbxdbxebxczzy", false),
    ("ab[c]", "abc", true),
    ("ab[b-d]", "abc", true),
    ("ab[e-g]", "abc", false),
    ("ab[^c]", "abc", false),
    ("ab[^e-g]", "abc", true),
    ("a\\*b", "a*b", true),
    ("a\\*b", "ab", false),
    ("a?b", "a☺b", true),
    ("a[^a]b", "a☺b", true),
    ("a???b", "a☺b", false),
    ("[a-ζ]*", "α", true),
    ("*[a-ζ]", "A", false),
    ("a?b", "a/b", false),
    ("a*b", "a/b", false),
    // A class is not kept from matching the separator.
    ("a[/]b", "a/b", true),
    ("a[^x]b", "a/b", true),
    // The first fit of the class chunk is final, so the second star cannot cross the slash.
    ("*[^a]*b", "x/yb", false),
    ("[\\]a]", "]", true),
    ("[\\-]", "-", true),
    ("[x\\-]", "-", true),
    ("[x\\-]", "z", false),
    ("[\\-x]", "a", false),
    ("[*]", "*", true),
    ("[]a]", "]", false),
    ("[-]", "-", false),
    ("[x-]", "x", false),
    ("[-x]", "x", false),
    ("[a-b-c]", "a", false),
    ("[", "a", false),
    ("[^", "a", false),
    ("[^bc", "a", false),
    ("a[", "a", false),
    ("a[", "ab", false),
    ("a\\", "a", false),
    ("a\\", "a\\", false),
    ("*x", "xxx", true),
    ("*[\u{fffd}]", "é", true),
    ("*?", "é", true),
    ("vendor/nvidia/model/*", "vendor/nvidia/model/a100", true),
    ("vendor/nvidia/model/*", "vendor/nvidia/model/a100/ram/80Gi", false),
    ("vendor/*/model/a100", "vendor/amd/model/a100", true),
];

#[test]
fn patterns_match_what_they_match_in_go() {
    for &(pattern, name, matches) in TABLE {
        assert_eq!(glob_match(pattern, name), matches, "{pattern:?} on {name:?}");
    }
}

#[test]
fn many_stars_stay_fast() {
    let pattern = "*a".repeat(200);
    let name = "a".repeat(5_000);
    assert!(glob_match(&pattern, &name));
    assert!(!glob_match(&format!("{pattern}b"), &name));
}

/// One step of a well-formed pattern whose classes cannot match the separator.
#[derive(Clone, Debug)]
enum Step {
    Star,
    One,
    Literal(char),
    Class { negated: bool, low: char, high: char },
}

fn written(steps: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Star => "*".to_owned(),
        Step::One => "?".to_owned(),
        Step::Literal(c) if "*?[\\".contains(*c) => format!("\\{c}"),
        Step::Literal(c) => c.to_string(),
        Step::Class { negated, low, high } => {
            // The class of a negation lists the separator, so that it never matches it.
            format!("[{}{low}-{high}]", if *negated { "^/" } else { "" })
        }
    };
    steps.iter().map(step).collect()
}

/// Tries every way to match. Equal to Go's greedy way as long as only a literal matches `/`.
fn backtracking(steps: &[Step], name: &[char]) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return name.is_empty();
    };
    if matches!(step, Step::Star) {
        let reach = name.iter().position(|&c| c == '/').unwrap_or(name.len());
        return (0..=reach).any(|skip| backtracking(rest, &name[skip..]));
    }
    let Some((&c, name)) = name.split_first() else {
        return false;
    };
    let fits = match step {
        Step::Star => false,
        Step::One => c != '/',
        Step::Literal(literal) => c == *literal,
        Step::Class { negated, low, high } => {
            if *negated {
                c != '/' && !(*low..=*high).contains(&c)
            } else {
                (*low..=*high).contains(&c)
            }
        }
    };
    fits && backtracking(rest, name)
}

fn any_step() -> impl Strategy<Value = Step> {
    let literal = prop::sample::select(vec!['a', 'b', 'c', '/', '*', 'é', '[']);
    let letter = || prop::sample::select(vec!['a', 'b', 'c', 'd']);
    let class = (any::<bool>(), letter(), letter()).prop_map(|(negated, low, high)| Step::Class {
        negated,
        low,
        high,
    });
    prop_oneof![
        3 => Just(Step::Star),
        1 => Just(Step::One),
        4 => literal.prop_map(Step::Literal),
        2 => class,
    ]
}

proptest! {
    #[test]
    fn agrees_with_trying_every_way(
        steps in prop::collection::vec(any_step(), 0..8),
        name in prop::collection::vec(prop::sample::select(vec!['a', 'b', 'c', '/', '*', 'é']), 0..10),
    ) {
        let pattern = written(&steps);
        let text: String = name.iter().collect();
        prop_assert_eq!(glob_match(&pattern, &text), backtracking(&steps, &name), "{} on {}", pattern, text);
    }

    #[test]
    fn no_pattern_panics(pattern in r"[\[\]\\^*?a-c/é-]{0,12}", name in r"[\[\]\\^*?a-c/é-]{0,12}") {
        let _ = glob_match(&pattern, &name);
    }

    #[test]
    fn no_text_panics(pattern in ".{0,24}", name in ".{0,24}") {
        let _ = glob_match(&pattern, &name);
    }
}
