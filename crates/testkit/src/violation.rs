//! [`Violation`]: a rule that did not hold.

/// A rule that did not hold, and what was found instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {found}")]
pub struct Violation {
    /// Short name of the rule, such as `I1`.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
}

impl Violation {
    /// The rule `rule` did not hold.
    pub fn new(rule: &'static str, found: impl Into<String>) -> Self {
        Self { rule, found: found.into() }
    }

    /// Puts in front of what was found where it was found.
    #[must_use]
    pub fn at(mut self, place: impl std::fmt::Display) -> Self {
        self.found = format!("{place}: {}", self.found);
        self
    }
}

/// Leaves the function with a [`Violation`] of the rule unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $rule:expr, $($found:tt)+) => {
        if !$condition {
            return Err($crate::Violation::new($rule, format!($($found)+)));
        }
    };
}

pub(crate) use ensure;
