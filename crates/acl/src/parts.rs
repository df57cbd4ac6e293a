//! Taking host memory in parts, where the driver has a limit that nobody can ask for.

use crate::{AclCode, AclError, ErrorKind};

/// The smallest part that is tried, and the unit of larger ones, in bytes.
const UNIT: usize = 2 << 20;

/// Makes parts that together are `size` bytes: one if that succeeds, else of half, a quarter and so on. On failure all parts
/// are dropped.
///
/// # Errors
///
/// [`AclError::HostLimit`] if even the smallest part fails, or whatever `make` answers that a smaller part does not help.
pub(crate) fn in_parts<P>(
    size: usize,
    mut make: impl FnMut(usize, usize) -> Result<P, AclError>,
) -> Result<Vec<P>, AclError> {
    let mut parts = Vec::new();
    let (mut worked, mut largest) = (0, size);
    while worked < size || parts.is_empty() {
        let length = largest.min(size - worked);
        match make(worked, length) {
            Ok(part) => {
                parts.push(part);
                worked += length;
            }
            Err(AclError::Call(failed)) if may_be_a_limit(failed.code) && size > UNIT => {
                if length <= UNIT {
                    return Err(AclError::HostLimit { asked: size, worked, failed: failed.into() });
                }
                largest = (length / 2).next_multiple_of(UNIT);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(parts)
}

/// Whether a smaller part may do. The driver has no code of its own for its limits.
fn may_be_a_limit(code: AclCode) -> bool {
    let known_not_to_be =
        [AclCode::HOST_MEMORY_ALREADY_REGISTERED, AclCode::HOST_MEMORY_NOT_REGISTERED].contains(&code);
    let kinds = [ErrorKind::OutOfMemory, ErrorKind::InvalidArgument, ErrorKind::Other];
    !known_not_to_be && kinds.contains(&code.kind())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallFailed;

    const MIB: usize = 1 << 20;

    fn failed(code: AclCode) -> AclError {
        CallFailed { code, call: "aclrtHostRegister", detail: None }.into()
    }

    /// Parts of a host that takes `limit` bytes at a time and `total` in all.
    fn parts(size: usize, limit: usize, total: usize) -> Result<Vec<(usize, usize)>, AclError> {
        let mut taken = 0;
        in_parts(size, |offset, length| {
            if length > limit || taken + length > total {
                return Err(failed(AclCode::MEMORY_ALLOCATION));
            }
            taken += length;
            Ok((offset, length))
        })
    }

    #[test]
    fn the_whole_is_one_part_where_that_works() {
        assert_eq!(parts(7, 7, 7).unwrap(), [(0, 7)]);
        assert_eq!(parts(5 * MIB, 5 * MIB, 5 * MIB).unwrap(), [(0, 5 * MIB)]);
    }

    #[test]
    fn parts_follow_one_another_and_none_is_over_the_limit() {
        for (size, limit) in [(9 * MIB + 1, 4 * MIB), (64 * MIB, 3 * MIB), (5 * MIB - 1, 2 * MIB)] {
            let parts = parts(size, limit, usize::MAX).unwrap();
            let mut end = 0;
            for (offset, length) in parts {
                assert_eq!(offset, end);
                assert!(length <= limit, "{length}");
                end += length;
            }
            assert_eq!(end, size);
        }
    }

    #[test]
    fn a_limit_of_all_parts_is_an_error_with_what_worked() {
        let error = parts(64 * MIB, 16 * MIB, 39 * MIB).unwrap_err();
        assert!(matches!(error, AclError::HostLimit { worked, .. } if worked == 38 * MIB), "{error}");
        // A retry with that succeeds.
        assert!(parts(38 * MIB, 16 * MIB, 39 * MIB).is_ok());
    }

    #[test]
    fn what_a_smaller_part_does_not_help_is_not_tried_again() {
        for code in
            [AclCode::HOST_MEMORY_ALREADY_REGISTERED, AclCode::CONTEXT_NULL, AclCode::FEATURE_NOT_SUPPORT]
        {
            let mut calls = 0;
            let made = in_parts(64 * MIB, |_, _| {
                calls += 1;
                Err::<(), _>(failed(code))
            });
            assert_eq!((made.unwrap_err().code(), calls), (Some(code), 1));
        }
        // Nor is there a smaller part than the smallest.
        assert!(matches!(parts(MIB, 0, 0), Err(AclError::Call(_))));
    }
}
