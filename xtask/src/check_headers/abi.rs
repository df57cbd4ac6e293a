//! What our headers and bindings say: constants, layouts, functions.
//!
//! Values and layouts are read from the generated bindings, since those are what Rust code uses; declarations are read
//! from the headers, since only C has their types in the form in which C can compare them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;

use super::compiler::Words;
use crate::bindgen;

/// Everything that is compared. Each item has the name by which it is found in the vendor's headers.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Abi {
    pub(super) constants: Vec<Constant>,
    pub(super) types: Vec<Type>,
    pub(super) functions: Vec<Function>,
}

/// A number with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) value: i128,
}

/// A type with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// What is known of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// An enumeration, held as `int` or `unsigned`.
    Enumeration { signed: bool },
    /// A struct or union, sizes and offsets in bytes.
    Layout { size: u64, align: u64, fields: Vec<Field> },
    /// Another name of a type of C, as in `typedef void *aclrtStream`; `same_as` is an abstract declarator.
    Alias { same_as: String },
}

/// A field of a struct or union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) offset: u64,
    /// Its type as an abstract declarator, such as `char[32]`.
    pub(super) declared: String,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) result: String,
    pub(super) parameters: String,
    /// A library without it is not taken for ACL.
    pub(super) required: bool,
}

/// Names that one version of the headers does not have.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) constants: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) fields: Vec<String>,
    pub(super) functions: Vec<String>,
    pub(super) required_functions: Vec<String>,
}

impl Abi {
    /// What of this is among `words`, and what is not.
    pub(super) fn split(&self, words: &Words) -> (Self, Missing) {
        let mut present = self.clone();
        let mut missing = Missing::default();
        present.constants.retain(|constant| keep(words, &constant.name, &mut missing.constants));
        present.types.retain(|declared| keep(words, &declared.name, &mut missing.types));
        present.functions.retain(|function| {
            let absent =
                if function.required { &mut missing.required_functions } else { &mut missing.functions };
            keep(words, &function.name, absent)
        });
        for declared in &mut present.types {
            let Kind::Layout { fields, .. } = &mut declared.kind else { continue };
            fields.retain(|field| {
                let there = words.has(&field.name) && words.has_all_of(&field.declared);
                if !there {
                    missing.fields.push(format!("{}::{}", declared.name, field.name));
                }
                there
            });
        }
        (present, missing)
    }
}

impl Abi {
    /// The constants, and everything else.
    pub(super) fn parts(&self) -> [Self; 2] {
        let constants = Self { constants: self.constants.clone(), ..Self::default() };
        [constants, Self { constants: Vec::new(), ..self.clone() }]
    }
}

/// Whether `name` is there; its absence is noted.
fn keep(words: &Words, name: &str, missing: &mut Vec<String>) -> bool {
    let there = words.has(name);
    if !there {
        missing.push(name.to_owned());
    }
    there
}

/// Reads our headers, bindings, and list of required functions.
pub(super) fn read(root: &Path) -> anyhow::Result<Abi> {
    let folder = bindgen::headers(root).join("acl");
    let mut headers = String::new();
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .with_context(|| format!("{} could not be read", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    names.sort();
    for path in names {
        headers.push_str(&super::read(&path)?);
    }
    let table = super::read(&root.join("crates/acl-sys/src/table.rs"))?;
    let bindings = super::read(&bindgen::bindings(root))?;
    let abi = parse(&bindings, &headers, &required(&table)?)?;
    let bound =
        bindings.split_once("functions! {").map_or(0, |(_, functions)| functions.matches("    fn ").count());
    anyhow::ensure!(
        bound == abi.functions.len(),
        "the headers declare {} functions and the bindings have {bound}; run `cargo xtask bindgen`",
        abi.functions.len()
    );
    let all_there = !abi.constants.is_empty() && !abi.types.is_empty() && !abi.functions.is_empty();
    anyhow::ensure!(all_there, "crates/acl-sys has no constants, types or functions that this task can read");
    Ok(abi)
}

/// The names in `pub const REQUIRED`.
fn required(table: &str) -> anyhow::Result<BTreeSet<String>> {
    let (_, list) =
        table.split_once("pub const REQUIRED: &[&str] = &[").context("table.rs has no REQUIRED")?;
    let (list, _) = list.split_once("];").context("REQUIRED in table.rs has no end")?;
    Ok(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

fn parse(bindings: &str, headers: &str, required: &BTreeSet<String>) -> anyhow::Result<Abi> {
    let bindings: String = bindings.split_whitespace().collect::<Vec<_>>().join(" ");
    let headers = squeeze_c(headers);
    let mut functions = functions(&headers, required);
    functions.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Abi { constants: constants(&bindings)?, types: types(&bindings, &headers)?, functions })
}

/// C without comments and preprocessor lines, each declaration on one line.
fn squeeze_c(headers: &str) -> Vec<String> {
    let mut code = String::new();
    for (index, part) in headers.split("/*").enumerate() {
        code.push_str(if index == 0 { part } else { part.split_once("*/").map_or("", |(_, after)| after) });
    }
    let mut declarations = vec![String::new()];
    let mut depth = 0_u32;
    for line in code.lines().map(str::trim).filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if line == "extern \"C\" {" || line == "}" {
            continue;
        }
        let last = declarations.last_mut().expect("starts with one and never shrinks");
        last.push_str(line);
        last.push(' ');
        depth += u32::from(line.ends_with('{'));
        depth = depth.saturating_sub(u32::from(line.starts_with('}')));
        if depth == 0 && line.ends_with(';') {
            declarations.push(String::new());
        }
    }
    declarations
}

/// `pub const NAME: TYPE = 5;` and `pub const NAME: TYPE = TYPE(5);`.
fn constants(bindings: &str) -> anyhow::Result<Vec<Constant>> {
    let mut found = Vec::new();
    for item in bindings.split("pub const ").skip(1) {
        let (name, rest) = item.split_once(':').context("a constant of the bindings has no type")?;
        let (of_type, rest) = rest.split_once('=').context("a constant of the bindings has no value")?;
        // The one string; the layout assertions and the functions know nothing of strings.
        if of_type.contains('&') {
            continue;
        }
        let (value, _) = rest.split_once(';').context("a constant of the bindings has no end")?;
        let value = value.trim().trim_start_matches(of_type.trim()).trim_matches(['(', ')', ',', ' ']);
        let value = value.parse().with_context(|| format!("{name} = {value} is no number"))?;
        found.push(Constant { name: name.to_owned(), value });
    }
    Ok(found)
}

fn types(bindings: &str, headers: &[String]) -> anyhow::Result<Vec<Type>> {
    let mut found = Vec::new();
    for declaration in headers.iter().filter_map(|declaration| declaration.strip_prefix("typedef ")) {
        let declaration = declaration.trim_end_matches([' ', ';']);
        let tag = |keyword: &str| declaration.strip_prefix(keyword).and_then(|rest| rest.split_once(" {"));
        let (name, kind) = if let Some((name, _)) = tag("enum ") {
            let opens = format!("pub struct {name}(pub ::core::ffi::c_");
            let (_, held) = bindings.split_once(&opens).with_context(|| format!("{name} is not bound"))?;
            (name.to_owned(), Kind::Enumeration { signed: held.starts_with("int") })
        } else if let Some((name, body)) = tag("struct ").or_else(|| tag("union ")) {
            (name.to_owned(), layout(bindings, name, body)?)
        } else if declaration.starts_with("struct ") {
            // Opaque: nothing is known of it but its name, which the functions use.
            continue;
        } else {
            let (name, same_as) =
                take_name(declaration).with_context(|| format!("no name in `{declaration}`"))?;
            (name, Kind::Alias { same_as })
        };
        found.push(Type { name, kind });
    }
    Ok(found)
}

/// Layout from the assertions that bindgen wrote, field types from the header.
fn layout(bindings: &str, name: &str, body: &str) -> anyhow::Result<Kind> {
    let number = |label: String| -> anyhow::Result<u64> {
        let (_, rest) = bindings.split_once(&label).with_context(|| format!("the bindings lack {label}"))?;
        let (_, rest) = rest.split_once(" - ").with_context(|| format!("{label} has no number"))?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().with_context(|| format!("{label} has no number"))
    };
    let (body, _) = body.split_once('}').with_context(|| format!("{name} has no end"))?;
    let mut fields = Vec::new();
    for field in body.split(';').map(str::trim).filter(|field| !field.is_empty()) {
        let (field, declared) =
            take_name(field).with_context(|| format!("no name in `{field}` of {name}"))?;
        let in_rust = if field == "type" { "type_" } else { &field };
        let offset = number(format!("\"Offset of field: {name}::{in_rust}\""))?;
        fields.push(Field { name: field, offset, declared });
    }
    let size = number(format!("\"Size of {name}\""))?;
    Ok(Kind::Layout { size, align: number(format!("\"Alignment of {name}\""))?, fields })
}

/// Takes the declared name out of a declaration: `char name[32]` is `name` and `char[32]`, and `void (*f)(int)` is `f`
/// and `void (*)(int)`.
fn take_name(declaration: &str) -> Option<(String, String)> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let end = match declaration.split_once("(*") {
        Some((before, rest)) => before.len() + 2 + rest.find(')')?,
        None => declaration.find('[').unwrap_or(declaration.len()),
    };
    let start = declaration[..end].rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
    let name = &declaration[start..end];
    let rest = format!("{}{}", declaration[..start].trim_end(), &declaration[end..]);
    (!name.is_empty()).then(|| (name.to_owned(), rest))
}

/// Prototypes; the parameters keep their names, which C ignores.
fn functions(headers: &[String], required: &BTreeSet<String>) -> Vec<Function> {
    let mut found = Vec::new();
    for declaration in headers.iter().filter(|declaration| !declaration.starts_with("typedef ")) {
        let Some((head, parameters)) = declaration.split_once('(') else { continue };
        let Some((name, result)) = take_name(head) else { continue };
        let parameters = parameters.trim_end().trim_end_matches(");").to_owned();
        let required = required.contains(&name);
        found.push(Function { name, result, parameters, required });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADERS: &str = "\
/* Words; more words. */
#define ACL_A 5
extern \"C\" {
/** A state. */
typedef enum aclState {
    ACL_ON = -1
} aclState;
typedef struct aclThing {
    aclState type;
    char name[ACL_A];
} aclThing;
typedef struct aclOpaque aclOpaque;
typedef void *aclHandle;
typedef void (*aclCall)(void *user_data);
const char *aclName(const aclThing *thing, size_t index);
aclHandle aclOpen(void);
}
";
    const BINDINGS: &str = "\
pub const ACL_A: u32 = 5;
pub const ACL_T: &[u8; 2] = b\"a\\0\";
impl aclState { pub const ACL_ON: aclState = aclState(
        -1,
    ); }
pub struct aclState(pub ::core::ffi::c_int);
const _: () = { [\"Size of aclThing\"][::core::mem::size_of::<aclThing>() - 12usize];
    [\"Alignment of aclThing\"][::core::mem::align_of::<aclThing>() - 4usize];
    [\"Offset of field: aclThing::type_\"][::core::mem::offset_of!(aclThing, type_) - 0usize];
    [
        \"Offset of field: aclThing::name\",
    ][::core::mem::offset_of!(aclThing, name) - 4usize];
};
";

    #[test]
    fn names_are_taken_out_of_declarations() {
        let taken = |text| take_name(text).expect("there is a name");
        assert_eq!(taken("uint8_t rsv[4]"), ("rsv".to_owned(), "uint8_t[4]".to_owned()));
        assert_eq!(taken("void *aclrtStream"), ("aclrtStream".to_owned(), "void *".to_owned()));
        assert_eq!(taken("void (*f)(void *x)"), ("f".to_owned(), "void (*)(void *x)".to_owned()));
        assert_eq!(taken("void *(*f)(int x)"), ("f".to_owned(), "void *(*)(int x)".to_owned()));
        assert_eq!(take_name("void *"), None);
    }

    #[test]
    fn constants_types_and_functions_are_read() {
        let abi = parse(BINDINGS, HEADERS, &BTreeSet::from(["aclOpen".to_owned()])).expect("readable");
        let values: Vec<_> = abi.constants.iter().map(|c| (c.name.as_str(), c.value)).collect();
        assert_eq!(values, [("ACL_A", 5), ("ACL_ON", -1)]);
        let field = |name: &str, offset, declared: &str| Field {
            name: name.to_owned(),
            offset,
            declared: declared.to_owned(),
        };
        let fields = vec![field("type", 0, "aclState"), field("name", 4, "char[ACL_A]")];
        let alias = |same_as: &str| Kind::Alias { same_as: same_as.to_owned() };
        let kinds: Vec<_> = abi.types.iter().map(|t| (t.name.as_str(), t.kind.clone())).collect();
        assert_eq!(
            kinds,
            [
                ("aclState", Kind::Enumeration { signed: true }),
                ("aclThing", Kind::Layout { size: 12, align: 4, fields }),
                ("aclHandle", alias("void *")),
                ("aclCall", alias("void (*)(void *user_data)")),
            ]
        );
        let function = |name: &str, result: &str, parameters: &str, required| Function {
            name: name.to_owned(),
            result: result.to_owned(),
            parameters: parameters.to_owned(),
            required,
        };
        assert_eq!(
            abi.functions,
            [
                function("aclName", "const char *", "const aclThing *thing, size_t index", false),
                function("aclOpen", "aclHandle", "void", true),
            ]
        );
    }

    #[test]
    fn what_the_headers_lack_is_set_aside_by_its_kind() {
        let abi = parse(BINDINGS, HEADERS, &BTreeSet::from(["aclOpen".to_owned()])).expect("readable");
        let (present, missing) = abi.split(&Words::of("ACL_A aclThing aclName size_t char"));
        assert_eq!(present.constants.len(), 1);
        assert_eq!(present.functions.len(), 1);
        assert_eq!(missing.constants, ["ACL_ON"]);
        assert_eq!(missing.types, ["aclState", "aclHandle", "aclCall"]);
        assert_eq!(missing.required_functions, ["aclOpen"]);
    }
}
