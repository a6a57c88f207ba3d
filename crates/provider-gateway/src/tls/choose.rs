//! Which certificate a client is shown.

/// Which certificate a client is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The provider's own, and the client may show one too.
    Own,
    /// That of an authority, and the client is not asked for one: browsers would ask their user.
    Public,
}

/// Decides by the name in the client's hello, the public host name and whether there is a
/// certificate of an authority for it.
pub(super) fn choose(name: Option<&str>, public_name: Option<&str>, has_public: bool) -> Shown {
    match (name, public_name) {
        (Some(name), Some(public)) if has_public && name.eq_ignore_ascii_case(public) => {
            Shown::Public
        }
        _ => Shown::Own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_name_gets_the_public_certificate() {
        let host = Some("provider.example.com");
        for (name, public_name, has_public, expected) in [
            (host, host, true, Shown::Public),
            (Some("Provider.Example.com"), host, true, Shown::Public),
            (host, host, false, Shown::Own),
            (Some("mtls.provider.example.com"), host, true, Shown::Own),
            (Some("example.com"), host, true, Shown::Own),
            (None, host, true, Shown::Own),
            (host, None, true, Shown::Own),
            (None, None, true, Shown::Own),
        ] {
            assert_eq!(choose(name, public_name, has_public), expected, "{name:?} {public_name:?}");
        }
    }
}
