//! The effective configuration of a pool: arguments before environment variables before defaults.

use std::fmt;

use mempool_core::environment::{EnvironmentConfig, Source};
use mempool_core::{ArenaKind, Bytes, ConfigError, FitPolicy, PoolConfig};

/// What the command line says about the pool.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Overrides {
    pub(crate) policy: Option<FitPolicy>,
    pub(crate) max_size: Option<Bytes>,
    pub(crate) initial_size: Option<Bytes>,
    pub(crate) arena_size: Option<Bytes>,
    pub(crate) arena_kind: Option<ArenaKind>,
}

impl Overrides {
    /// `config` with what the command line says.
    pub(crate) fn apply(&self, config: &PoolConfig) -> Result<PoolConfig, ConfigError> {
        let mut builder = config.to_builder();
        if let Some(policy) = self.policy {
            builder = builder.policy(policy);
        }
        if let Some(bytes) = self.max_size {
            builder = builder.max_size(bytes);
        }
        if let Some(bytes) = self.initial_size {
            builder = builder.initial_size(bytes);
        }
        if let Some(bytes) = self.arena_size {
            builder = builder.arena_size(bytes);
        }
        if let Some(kind) = self.arena_kind {
            builder = builder.arena_kind(kind);
        }
        builder.build()
    }
}

/// A setting, its value, and who said so.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) origin: Origin,
}

/// Who said so.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    Variable(&'static str),
    Argument(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Argument(name) => write!(f, "argument {name}"),
        }
    }
}

/// All settings of `config`, which `overrides` made of `environment`.
pub(crate) fn settings(
    config: &PoolConfig,
    environment: &EnvironmentConfig,
    overrides: &Overrides,
) -> Vec<Setting> {
    let setting = |name, value: String, argument, given: bool| {
        let origin = match environment.source_of(name) {
            _ if given => Origin::Argument(argument),
            Source::Environment(variable) => Origin::Variable(variable),
            Source::Default => Origin::Default,
        };
        Setting { name, value, origin }
    };
    let max_size =
        config.max_size().map_or_else(|| "as much as the device has".to_owned(), |size| size.to_string());
    vec![
        setting("policy", config.policy().to_string(), "--policy", overrides.policy.is_some()),
        setting("max_size", max_size, "--max-size", overrides.max_size.is_some()),
        setting(
            "initial_size",
            config.initial_size().to_string(),
            "--initial-size",
            overrides.initial_size.is_some(),
        ),
        setting(
            "arena_size",
            config.arena_size().to_string(),
            "--arena-size",
            overrides.arena_size.is_some(),
        ),
        setting(
            "arena_kind",
            config.arena_kind().to_string(),
            "--arena-kind",
            overrides.arena_kind.is_some(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_before_variables_and_these_before_defaults() {
        let environment = PoolConfig::from_variables(|name| match name {
            "ASCEND_MEMPOOL_POLICY" => Some("FIRST_FIT".to_owned()),
            "ASCEND_MEMORY_POOL_MAX_SIZE" => Some("4GiB".to_owned()),
            _ => None,
        })
        .unwrap();
        let overrides = Overrides { max_size: Some(Bytes::gib(2)), ..Overrides::default() };
        let config = overrides.apply(&environment.config).unwrap();
        let shown: Vec<_> = settings(&config, &environment, &overrides)
            .iter()
            .map(|setting| format!("{} = {} ({})", setting.name, setting.value, setting.origin))
            .collect();
        assert_eq!(
            shown,
            [
                "policy = first-fit (environment variable ASCEND_MEMPOOL_POLICY)",
                "max_size = 2 GiB (argument --max-size)",
                "initial_size = 0 B (default)",
                "arena_size = 32 MiB (default)",
                "arena_kind = plain (default)",
            ]
        );
    }

    #[test]
    fn arguments_that_contradict_the_environment_are_refused() {
        let environment = PoolConfig::builder().max_size(Bytes::mib(1)).build().unwrap();
        let overrides = Overrides { initial_size: Some(Bytes::mib(2)), ..Overrides::default() };
        assert!(matches!(overrides.apply(&environment), Err(ConfigError::InitialOverMax { .. })));
    }
}
