//! Mode: whether a way to authenticate is an offer or a demand.

/// Whether callers have to authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Whoever does not is refused.
    Required,
    /// Whoever does not is anonymous.
    Optional,
}

impl Mode {
    /// The mode called `name`; `setting` is where it stands. The error is a sentence.
    pub fn parse(setting: &str, name: &str) -> Result<Mode, String> {
        match name {
            "required" => Ok(Mode::Required),
            "optional" => Ok(Mode::Optional),
            other => Err(format!("{setting} is '{other}', but takes required or optional")),
        }
    }

    /// Whether callers have to authenticate.
    pub fn is_required(self) -> bool {
        self == Mode::Required
    }
}
