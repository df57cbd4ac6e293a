//! Settings that a program makes and asks for again, but that change nothing here: no kernel runs.

use acl_sys::{
    ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, aclSysParamOpt, aclrtDevResLimitType, aclrtFloatOverflowMode,
};

use crate::failure::Failure;

/// Options of one process or context, by number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemOptions([Option<i64>; 4]);

impl SystemOptions {
    /// Checks the value and keeps it.
    pub(crate) fn set(&mut self, option: aclSysParamOpt, value: i64) -> Result<(), Failure> {
        let limit = if option == aclSysParamOpt::ACL_OPT_DETERMINISTIC { 4 } else { 2 };
        if !(0..limit).contains(&value) {
            return Err(Failure::refused(format!(
                "option {} does not take {value}: give 0 to {}",
                option.0,
                limit - 1
            )));
        }
        *self.slot(option)? = Some(value);
        Ok(())
    }

    /// 107021 when it was never set.
    pub(crate) fn get(&mut self, option: aclSysParamOpt) -> Result<i64, Failure> {
        let value = *self.slot(option)?;
        value.ok_or_else(|| {
            let text = format!("option {} was not set", option.0);
            Failure::new(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, text)
        })
    }

    fn slot(&mut self, option: aclSysParamOpt) -> Result<&mut Option<i64>, Failure> {
        let slot = usize::try_from(option.0).ok().and_then(|index| self.0.get_mut(index));
        slot.ok_or_else(|| Failure::invalid(format!("option {} does not exist: give 0 to 3", option.0)))
    }
}

/// What holds for the whole process.
#[derive(Debug)]
pub(crate) struct ProcessOptions {
    pub(crate) system: SystemOptions,
    pub(crate) saturation: aclrtFloatOverflowMode,
}

impl Default for ProcessOptions {
    fn default() -> Self {
        Self {
            system: SystemOptions::default(),
            saturation: aclrtFloatOverflowMode::ACL_RT_OVERFLOW_MODE_SATURATION,
        }
    }
}

/// Cores of a card of the 910B1 kind.
pub(crate) const CUBE_CORES: u32 = 24;
/// The same, of the other kind.
pub(crate) const VECTOR_CORES: u32 = 48;

/// How many cores of each kind kernels of a device may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CoreLimits {
    cube: u32,
    vector: u32,
}

impl Default for CoreLimits {
    fn default() -> Self {
        Self { cube: CUBE_CORES, vector: VECTOR_CORES }
    }
}

impl CoreLimits {
    pub(crate) fn set(&mut self, kind: aclrtDevResLimitType, cores: u32) -> Result<(), Failure> {
        let (slot, most) = match kind {
            aclrtDevResLimitType::ACL_RT_DEV_RES_CUBE_CORE => (&mut self.cube, CUBE_CORES),
            aclrtDevResLimitType::ACL_RT_DEV_RES_VECTOR_CORE => (&mut self.vector, VECTOR_CORES),
            _ => return Err(no_such_kind(kind)),
        };
        if cores == 0 || cores > most {
            return Err(Failure::refused(format!("{cores} cores: the device has 1 to {most} of that kind")));
        }
        *slot = cores;
        Ok(())
    }

    pub(crate) fn get(self, kind: aclrtDevResLimitType) -> Result<u32, Failure> {
        match kind {
            aclrtDevResLimitType::ACL_RT_DEV_RES_CUBE_CORE => Ok(self.cube),
            aclrtDevResLimitType::ACL_RT_DEV_RES_VECTOR_CORE => Ok(self.vector),
            _ => Err(no_such_kind(kind)),
        }
    }
}

fn no_such_kind(kind: aclrtDevResLimitType) -> Failure {
    Failure::refused(format!("cores of kind {} do not exist: give 0 or 1", kind.0))
}
