//! Every environment variable that this project reads to configure a pool, in one table.

use crate::config::{ArenaKind, ConfigError, FitPolicy, PoolConfig};
use crate::units::Bytes;

/// An environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The setting it sets.
    pub setting: &'static str,
    /// What may stand in it.
    pub allowed: &'static str,
    /// Whether this release acts on it. One that is known but has no effect yet is said to have none, never ignored.
    pub in_effect: bool,
}

const SIZE: &str = "a positive number of bytes, or a number with KiB, MiB, GiB or TiB";

const fn variable(
    name: &'static str,
    setting: &'static str,
    allowed: &'static str,
    in_effect: bool,
) -> Variable {
    Variable { name, setting, allowed, in_effect }
}

const POLICY: Variable = variable("ASCEND_MEMPOOL_POLICY", "policy", "BEST_FIT or FIRST_FIT", true);
const MAX_SIZE: Variable = variable("ASCEND_MEMORY_POOL_MAX_SIZE", "max_size", SIZE, true);
const INITIAL_SIZE: Variable = variable("ASCEND_MEMPOOL_INITIAL_SIZE", "initial_size", SIZE, true);
const ARENA_KIND: Variable = variable("ASCEND_MEMPOOL_ARENA_KIND", "arena_kind", "PLAIN or VIRTUAL", true);
const ARENA_SIZE: Variable = variable("ASCEND_MEMPOOL_ARENA_SIZE", "arena_size", SIZE, true);

/// CANN's own variable for how much is logged, which the `mempool` command follows. A library logs through `tracing` and leaves it to
/// its program.
pub const LOG_LEVEL: Variable = variable(
    "ASCEND_GLOBAL_LOG_LEVEL",
    "log_level",
    "0 debug, 1 info, 2 warning, 3 error (default), 4 none",
    true,
);

/// All variables, in the order of the documentation.
pub const VARIABLES: [Variable; 10] = [
    POLICY,
    MAX_SIZE,
    INITIAL_SIZE,
    ARENA_SIZE,
    ARENA_KIND,
    variable("ASCEND_MEMPOOL_COMPACT_THRESHOLD", "compact_threshold", "a number from 0 to 1", false),
    variable("ASCEND_MEMPOOL_COMPACT_INTERVAL", "compact_interval", "milliseconds, 0 for off", false),
    variable("ASCEND_MEMPOOL_TRACE", "trace", "ON or OFF", false),
    variable("ASCEND_MEMPOOL_TRACE_FILE", "trace_file", "a path", false),
    LOG_LEVEL,
];

/// Where the value of a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Nobody said anything.
    Default,
    /// The environment variable of this name.
    Environment(&'static str),
}

/// A configuration read from the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnvironmentConfig {
    /// The configuration.
    pub config: PoolConfig,
    /// Variables that are set and in effect.
    pub set: Vec<&'static str>,
    /// Variables that are set and have no effect in this release.
    pub without_effect: Vec<&'static str>,
}

impl EnvironmentConfig {
    /// Where a setting of this name comes from.
    pub fn source_of(&self, setting: &str) -> Source {
        let variable = VARIABLES.iter().find(|variable| variable.setting == setting);
        match variable {
            Some(variable) if self.set.contains(&variable.name) => Source::Environment(variable.name),
            _ => Source::Default,
        }
    }
}

impl PoolConfig {
    /// The configuration that the environment asks for; see [`VARIABLES`]. Unset and empty variables leave the default.
    ///
    /// Warns through `tracing` about variables that are set but have no effect in this release.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Variable`] naming the variable, its value and what is allowed.
    pub fn from_env() -> Result<Self, ConfigError> {
        let read = Self::from_variables(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })?;
        for name in &read.without_effect {
            tracing::warn!(variable = name, "this variable is set but has no effect in this release");
        }
        Ok(read.config)
    }

    /// The same from any source of variables, with what was found where.
    ///
    /// # Errors
    ///
    /// As [`PoolConfig::from_env`].
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<EnvironmentConfig, ConfigError> {
        let value_of = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        let size = |variable: &Variable| -> Result<Option<Bytes>, ConfigError> {
            let Some(value) = value_of(variable.name) else { return Ok(None) };
            let refuse = |reason: String| ConfigError::Variable {
                variable: variable.name,
                value: value.clone(),
                reason,
                allowed: variable.allowed,
            };
            let bytes: Bytes = value
                .parse()
                .map_err(|error: crate::units::ParseBytesError| refuse(error.reason.to_owned()))?;
            if bytes.is_zero() { Err(refuse("it is 0".to_owned())) } else { Ok(Some(bytes)) }
        };
        let mut builder = Self::builder();
        if let Some(value) = value_of(POLICY.name) {
            let policy: FitPolicy = value.parse().map_err(|_| ConfigError::Variable {
                variable: POLICY.name,
                value: value.clone(),
                reason: "it names no fit policy".to_owned(),
                allowed: POLICY.allowed,
            })?;
            builder = builder.policy(policy);
        }
        if let Some(bytes) = size(&MAX_SIZE)? {
            builder = builder.max_size(bytes);
        }
        if let Some(bytes) = size(&INITIAL_SIZE)? {
            builder = builder.initial_size(bytes);
        }
        if let Some(bytes) = size(&ARENA_SIZE)? {
            builder = builder.arena_size(bytes);
        }
        if let Some(value) = value_of(ARENA_KIND.name) {
            let kind: ArenaKind = value.parse().map_err(|_| ConfigError::Variable {
                variable: ARENA_KIND.name,
                value: value.clone(),
                reason: "it names no kind of arena".to_owned(),
                allowed: ARENA_KIND.allowed,
            })?;
            builder = builder.arena_kind(kind);
        }
        let present = |in_effect: bool| {
            let matching = VARIABLES.iter().filter(move |variable| variable.in_effect == in_effect);
            matching.map(|variable| variable.name).filter(|name| value_of(name).is_some()).collect()
        };
        Ok(EnvironmentConfig { config: builder.build()?, set: present(true), without_effect: present(false) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<EnvironmentConfig, ConfigError> {
        PoolConfig::from_variables(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_articles_variables_set_policy_and_limit() {
        let read =
            read(&[("ASCEND_MEMPOOL_POLICY", "FIRST_FIT"), ("ASCEND_MEMORY_POOL_MAX_SIZE", "8589934592")])
                .unwrap();
        assert_eq!(read.config.policy(), FitPolicy::FirstFit);
        assert_eq!(read.config.max_size(), Some(Bytes::gib(8)));
        assert_eq!(read.source_of("policy"), Source::Environment("ASCEND_MEMPOOL_POLICY"));
        assert_eq!(read.source_of("arena_size"), Source::Default);
    }

    #[test]
    fn wrong_values_name_the_variable_the_value_and_what_is_allowed() {
        for (name, value) in [
            ("ASCEND_MEMPOOL_POLICY", "WORST_FIT"),
            ("ASCEND_MEMORY_POOL_MAX_SIZE", "0"),
            ("ASCEND_MEMORY_POOL_MAX_SIZE", "-1"),
            ("ASCEND_MEMPOOL_ARENA_SIZE", "lots"),
            ("ASCEND_MEMPOOL_ARENA_KIND", "PAGED"),
            ("ASCEND_MEMPOOL_INITIAL_SIZE", "99999999999999999999"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(value) && text.contains("allowed"), "{text}");
        }
    }

    #[test]
    fn variables_without_effect_are_told_not_ignored() {
        let read = read(&[("ASCEND_MEMPOOL_TRACE", "ON"), ("ASCEND_MEMPOOL_POLICY", "")]).unwrap();
        assert_eq!(read.without_effect, ["ASCEND_MEMPOOL_TRACE"]);
        assert_eq!(read.set, [""; 0], "an empty variable is as good as none");
    }

    #[test]
    fn a_variable_stands_in_the_table_once() {
        for (index, variable) in VARIABLES.iter().enumerate() {
            assert!(VARIABLES[..index].iter().all(|other| other.name != variable.name));
        }
    }
}
