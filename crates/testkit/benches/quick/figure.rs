//! One measured figure, and how people and programs get to see it.

use std::fmt;

use serde_json::{Value, json};

/// Head of the table whose rows are [`Figure`]s.
pub(crate) const HEADER: &str = concat!(
    "id   figure                                                      ours  ",
    "peer                             peer  ratio  goal            met"
);

/// What a figure should reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// Ours divided by the peer's is at most this.
    Ratio(f64),
    /// Ours is at most this, whatever the peer does.
    Ours(f64),
}

/// The same figure of somebody else.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Peer {
    /// Who.
    pub(crate) name: &'static str,
    /// In the unit of ours.
    pub(crate) value: f64,
}

/// One line of the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Number of the goal in the design.
    pub(crate) id: &'static str,
    /// What was measured, with its unit.
    pub(crate) name: String,
    /// Our value; smaller is better.
    pub(crate) ours: f64,
    /// Whom it is compared with.
    pub(crate) peer: Option<Peer>,
    /// `None` for lines that are there to be known.
    pub(crate) goal: Option<Goal>,
}

impl Figure {
    /// A figure without a peer or a goal.
    pub(crate) fn new(id: &'static str, name: impl Into<String>, ours: f64) -> Self {
        Self { id, name: name.into(), ours, peer: None, goal: None }
    }

    /// Compares with `value` of the peer `name`.
    #[must_use]
    pub(crate) fn against(mut self, name: &'static str, value: f64) -> Self {
        self.peer = Some(Peer { name, value });
        self
    }

    /// A figure of a pair (ours, the peer's).
    pub(crate) fn of_pair(
        id: &'static str,
        name: impl Into<String>,
        peer: &'static str,
        pair: (f64, f64),
    ) -> Self {
        Self::new(id, name, pair.0).against(peer, pair.1)
    }

    /// Sets what should be reached.
    #[must_use]
    pub(crate) fn with_goal(mut self, goal: Goal) -> Self {
        self.goal = Some(goal);
        self
    }

    /// Ours divided by the peer's.
    fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|peer| self.ours / peer.value)
    }

    /// Whether the goal is reached; `None` without one.
    fn met(&self) -> Option<bool> {
        match self.goal? {
            Goal::Ratio(limit) => Some(self.ratio()? <= limit),
            Goal::Ours(limit) => Some(self.ours <= limit),
        }
    }

    /// The figure as one JSON object. `goal` limits `ratio` for P1 and P2, `ours` for the others; null where there is none.
    pub(crate) fn to_json(&self) -> Value {
        let goal = self.goal.map(|goal| match goal {
            Goal::Ratio(limit) | Goal::Ours(limit) => limit,
        });
        json!({
            "id": self.id,
            "name": self.name,
            "ours": rounded(self.ours),
            "peer_name": self.peer.as_ref().map(|peer| peer.name),
            "peer": self.peer.as_ref().map(|peer| rounded(peer.value)),
            "ratio": self.ratio().map(rounded),
            "goal": goal,
            "met": self.met(),
        })
    }
}

/// To five decimals: more would only pretend.
fn rounded(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

/// At most seven characters that keep three digits of small figures.
fn shown(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else if value >= 0.1 {
        format!("{value:.3}")
    } else {
        format!("{value:.5}")
    }
}

impl fmt::Display for Figure {
    /// One row under [`HEADER`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peer = self.peer.as_ref().map_or_else(Default::default, |peer| (peer.name, shown(peer.value)));
        let ratio = self.ratio().map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let goal = self.goal.map_or_else(String::new, |goal| match goal {
            Goal::Ratio(limit) => format!("ratio <= {limit}"),
            Goal::Ours(limit) => format!("ours <= {limit}"),
        });
        let met = self.met().map_or("", |met| if met { "yes" } else { "NO" });
        let row = format!(
            "{:<4} {:<56} {:>7}  {:<29} {:>7} {ratio:>6}  {goal:<14}  {met}",
            self.id,
            self.name,
            shown(self.ours),
            peer.0,
            peer.1
        );
        f.write_str(row.trim_end())
    }
}

/// How many goals were reached.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    met: usize,
    goals: usize,
}

impl Tally {
    /// Counts a figure, if it has a goal.
    pub(crate) fn add(&mut self, figure: &Figure) {
        if let Some(met) = figure.met() {
            self.goals += 1;
            self.met += usize::from(met);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "goals met: {} of {}", self.met, self.goals)
    }
}
