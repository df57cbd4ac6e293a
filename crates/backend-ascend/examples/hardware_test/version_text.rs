//! The files in which CANN and its driver say their versions.

/// The value of the first line `version=...`, whatever the case and what is around it.
pub(crate) fn version_of(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.to_ascii_lowercase().contains("version="))?;
    let value = line.split_once('=')?.1.trim().trim_matches(['[', ']', '"']);
    // Of "[7.5.0.1:8.0.RC3]" the part after the colon is what people call it.
    let value = value.rsplit(':').next().unwrap_or(value);
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_the_forms_that_the_files_have() {
        assert_eq!(version_of("Version=24.1.rc2\nascendhal_version=7.35.19\n"), Some("24.1.rc2".to_owned()));
        assert_eq!(
            version_of("# note\nruntime_running_version=[7.5.0.1.129:8.0.RC3]\n"),
            Some("8.0.RC3".to_owned())
        );
        assert_eq!(version_of("nothing\nversion=\n"), None);
    }
}
