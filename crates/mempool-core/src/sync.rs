//! The locks of a pool, and who holds them: `parking_lot`'s and the system's, or, under `--cfg shuttle`, those of a scheduler that tries
//! interleavings (`cargo xtask ci models`).

#[cfg(not(shuttle))]
pub(crate) use parking_lot::{Condvar, Mutex};
#[cfg(not(shuttle))]
pub(crate) use std::thread;

#[cfg(shuttle)]
pub(crate) use modelled::{Condvar, Mutex};
#[cfg(shuttle)]
pub(crate) use shuttle::thread;

/// Shuttle's locks with the interface of `parking_lot`'s. A lock that a panic has poisoned serves on, as theirs do.
#[cfg(shuttle)]
mod modelled {
    use std::ops::{Deref, DerefMut};
    use std::sync::PoisonError;

    use shuttle::sync;

    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(sync::Mutex<T>);

    pub(crate) struct MutexGuard<'a, T>(Option<sync::MutexGuard<'a, T>>);

    #[derive(Debug, Default)]
    pub(crate) struct Condvar(sync::Condvar);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
        }

        pub(crate) fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.0.as_ref().expect("only a wait takes the guard, and puts it back")
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().expect("only a wait takes the guard, and puts it back")
        }
    }

    impl Condvar {
        pub(crate) fn new() -> Self {
            Self(sync::Condvar::new())
        }

        pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            if let Some(held) = guard.0.take() {
                guard.0 = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
            }
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}
