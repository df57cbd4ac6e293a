//! What the environment says about the simulation.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use acl_sys::{
    ACL_ERROR_RT_DRV_INTERNAL_ERROR, ACL_ERROR_RT_MEMORY_ALLOCATION, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
    CannVersion, Table, aclError,
};

/// One simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) version: CannVersion,
    pub(crate) devices: usize,
    pub(crate) capacity: u64,
    pub(crate) foreign_use: u64,
    pub(crate) failures: HashMap<String, Vec<PlannedFailure>>,
    /// As `failures`, of what the calls enqueue.
    pub(crate) task_failures: HashMap<String, Vec<PlannedFailure>>,
    pub(crate) latencies: HashMap<String, Duration>,
    pub(crate) hazards: Option<PathBuf>,
    pub(crate) leftovers: Option<PathBuf>,
    /// How long a synchronous copy or fill lets queued work go on before it starts.
    pub(crate) copy_grace: Duration,
}

/// Which calls of a function fail, from 1 on, and with which code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedFailure {
    pub(crate) first: u64,
    /// Whether all later ones fail too.
    pub(crate) and_later: bool,
    pub(crate) code: aclError,
}

impl PlannedFailure {
    pub(crate) fn is_of(&self, call: u64) -> bool {
        call == self.first || (self.and_later && call > self.first)
    }
}

/// A variable with a value that it does not take.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}={value:?} is not possible: {reason}; it takes {allowed}")]
pub(crate) struct SettingError {
    pub(crate) variable: &'static str,
    pub(crate) value: String,
    pub(crate) reason: String,
    pub(crate) allowed: &'static str,
}

impl Settings {
    /// The settings of this process's environment.
    pub(crate) fn from_environment() -> Result<Self, SettingError> {
        Self::from_variables(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    /// Reads variables that `variable` answers. An empty value counts as none.
    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let read = Reader { variable };
        Ok(Self {
            version: read.value("ASCEND_SIM_VERSION", "8.5, 9.1 or 9.2", CannVersion::V9_1, version)?,
            devices: read.value("ASCEND_SIM_DEVICES", "a number from 1 to 64", 1, devices)?,
            capacity: read.value("ASCEND_SIM_CAPACITY", SIZES, 32 << 30, size)?,
            foreign_use: read.value("ASCEND_SIM_FOREIGN_USE", SIZES, 0, size)?,
            failures: read
                .value("ASCEND_SIM_FAIL", FAILURES, HashMap::new(), |text| failures(text, default_code))?,
            task_failures: read.value("ASCEND_SIM_FAIL_TASK", FAILURES, HashMap::new(), |text| {
                failures(text, |_| ACL_ERROR_RT_VECTOR_CORE_EXCEPTION)
            })?,
            latencies: read.value("ASCEND_SIM_LATENCY", LATENCIES, HashMap::new(), latencies)?,
            copy_grace: read.value("ASCEND_SIM_COPY_GRACE", GRACES, Duration::ZERO, duration)?,
            hazards: read.value("ASCEND_SIM_HAZARDS", "a path", None, path)?,
            leftovers: read.value("ASCEND_SIM_LEFTOVERS", "a path", None, path)?,
        })
    }
}

const SIZES: &str = "bytes (8589934592) or a number with KiB, MiB, GiB or TiB (8GiB)";
const FAILURES: &str =
    "CALL:N or CALL:N:CODE, such as aclrtMalloc:3, or N+ for all from there on, several with commas";
const GRACES: &str = "a time with ns, us, ms or s, such as 20ms";
const LATENCIES: &str = "CALL:TIME with ns, us, ms or s, such as aclrtMalloc:200us, several with commas";

struct Reader<F> {
    variable: F,
}

impl<F: Fn(&str) -> Option<String>> Reader<F> {
    fn value<T>(
        &self,
        variable: &'static str,
        allowed: &'static str,
        otherwise: T,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, SettingError> {
        match (self.variable)(variable) {
            None => Ok(otherwise),
            Some(value) if value.trim().is_empty() => Ok(otherwise),
            Some(value) => {
                parse(value.trim()).map_err(|reason| SettingError { variable, value, reason, allowed })
            }
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as the others that read a value")]
fn path(text: &str) -> Result<Option<PathBuf>, String> {
    Ok(Some(PathBuf::from(text)))
}

fn version(text: &str) -> Result<CannVersion, String> {
    match text {
        "8.5" => Ok(CannVersion::V8_5),
        "9.1" => Ok(CannVersion::V9_1),
        "9.2" => Ok(CannVersion::V9_2),
        _ => Err("no such version is simulated".to_owned()),
    }
}

fn devices(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=64) => Ok(count),
        _ => Err("no such number of devices".to_owned()),
    }
}

/// Reads a whole number of bytes with a binary unit.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(format!("the unit {:?} is unknown", unit.trim())),
    };
    let number: u64 = number.parse().map_err(|_| "it does not start with a whole number".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "it passes 2^64 bytes".to_owned())
}

/// Reads a whole number with a unit of time.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| format!("{text:?} does not start with a whole number"))?;
    match unit.trim() {
        "ns" => Ok(Duration::from_nanos(number)),
        "us" => Ok(Duration::from_micros(number)),
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        _ => Err(format!("{text:?} has no unit of time")),
    }
}

fn known(call: &str) -> Result<String, String> {
    let known = Table::SYMBOLS.contains(&call);
    if known { Ok(call.to_owned()) } else { Err(format!("ACL has no function {call:?}")) }
}

fn failures(
    text: &str,
    default_code: impl Fn(&str) -> aclError,
) -> Result<HashMap<String, Vec<PlannedFailure>>, String> {
    let mut failures: HashMap<_, Vec<_>> = HashMap::new();
    for entry in text.split(',') {
        let mut parts = entry.trim().split(':');
        let call = known(parts.next().unwrap_or_default().trim())?;
        let number = parts.next().unwrap_or_default();
        let (number, and_later) = number.strip_suffix('+').map_or((number, false), |number| (number, true));
        let Ok(first @ 1..) = number.parse() else {
            return Err(format!("{entry:?} has no number of a call from 1 on"));
        };
        let code = match parts.next().map(str::parse) {
            None => default_code(&call),
            Some(Ok(code)) if code != 0 => code,
            Some(_) => return Err(format!("{entry:?} has a code that is no error")),
        };
        if parts.next().is_some() {
            return Err(format!("{entry:?} has too many parts"));
        }
        failures.entry(call).or_default().push(PlannedFailure { first, and_later, code });
    }
    Ok(failures)
}

/// What a call that takes memory fails with, and what others do.
fn default_code(call: &str) -> aclError {
    let takes_memory = call.starts_with("aclrtMalloc") || call.starts_with("aclrtMemPoolMalloc");
    if takes_memory { ACL_ERROR_RT_MEMORY_ALLOCATION } else { ACL_ERROR_RT_DRV_INTERNAL_ERROR }
}

fn latencies(text: &str) -> Result<HashMap<String, Duration>, String> {
    let mut latencies = HashMap::new();
    for entry in text.split(',') {
        let (call, time) =
            entry.trim().split_once(':').ok_or_else(|| format!("{entry:?} has no time after a colon"))?;
        latencies.insert(known(call.trim())?, duration(time.trim())?);
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &'static str, value: &'static str) -> Result<Settings, SettingError> {
        Settings::from_variables(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn values_are_read_as_documented() -> Result<(), SettingError> {
        assert_eq!(read("ASCEND_SIM_VERSION", "8.5")?.version, CannVersion::V8_5);
        assert_eq!(read("ASCEND_SIM_CAPACITY", "8GiB")?.capacity, 8 << 30);
        assert_eq!(read("ASCEND_SIM_DEVICES", "")?.devices, 1);
        let failures = read("ASCEND_SIM_FAIL", "aclrtMalloc:3, aclrtFree:1:107000")?.failures;
        let planned = |first, and_later, code| PlannedFailure { first, and_later, code };
        assert_eq!(failures["aclrtMalloc"], [planned(3, false, ACL_ERROR_RT_MEMORY_ALLOCATION)]);
        assert_eq!(failures["aclrtFree"], [planned(1, false, 107_000)]);
        let failures = read("ASCEND_SIM_FAIL", "aclrtMallocPhysical:2+")?.failures;
        let all = failures["aclrtMallocPhysical"][0];
        assert_eq!([1, 2, 3].map(|call| all.is_of(call)), [false, true, true]);
        assert_eq!(read("ASCEND_SIM_COPY_GRACE", "")?.copy_grace, Duration::ZERO);
        assert_eq!(read("ASCEND_SIM_COPY_GRACE", "20ms")?.copy_grace, Duration::from_millis(20));
        let latencies = read("ASCEND_SIM_LATENCY", "aclrtMalloc:200us")?.latencies;
        assert_eq!(latencies["aclrtMalloc"], Duration::from_micros(200));
        Ok(())
    }

    #[test]
    fn wrong_values_name_the_variable_and_what_it_takes() {
        for (name, value) in [
            ("ASCEND_SIM_VERSION", "9.3"),
            ("ASCEND_SIM_DEVICES", "0"),
            ("ASCEND_SIM_DEVICES", "65"),
            ("ASCEND_SIM_CAPACITY", "8 apples"),
            ("ASCEND_SIM_CAPACITY", "16777216TiB"),
            ("ASCEND_SIM_FOREIGN_USE", "-1"),
            ("ASCEND_SIM_FAIL", "aclrtMalloc"),
            ("ASCEND_SIM_FAIL", "aclrtMalloc:0"),
            ("ASCEND_SIM_FAIL", "aclrtMalloc:+"),
            ("ASCEND_SIM_FAIL", "aclrtMalloc:1:0"),
            ("ASCEND_SIM_FAIL", "malloc:1"),
            ("ASCEND_SIM_FAIL_TASK", "aclrtMemsetAsync:x"),
            ("ASCEND_SIM_LATENCY", "aclrtMalloc:5"),
            ("ASCEND_SIM_COPY_GRACE", "20"),
        ] {
            let error = read(name, value).expect_err(value);
            assert_eq!((error.variable, error.value.as_str()), (name, value));
            assert!(error.to_string().contains("it takes"), "{error}");
        }
    }
}
