//! The operators that names and expressions have.

/// An operator: its code, its text, and the count of its operands (0 if it has a form of its own).
pub(super) struct Operator {
    code: &'static [u8; 2],
    pub(super) text: &'static str,
    pub(super) operands: u8,
}

impl Operator {
    /// Returns `true` if it is a word that no name has.
    pub(super) fn is_word(&self) -> bool {
        matches!(self.code, b"at" | b"az" | b"nx" | b"st" | b"sz" | b"te" | b"ti")
    }
}

const fn operator(code: &'static [u8; 2], text: &'static str, operands: u8) -> Operator {
    Operator { code, text, operands }
}

const OPERATORS: [Operator; 57] = [
    operator(b"aN", "&=", 2),
    operator(b"aS", "=", 2),
    operator(b"aa", "&&", 2),
    operator(b"ad", "&", 1),
    operator(b"an", "&", 2),
    operator(b"aw", " co_await", 0),
    operator(b"cl", "()", 0),
    operator(b"cm", ",", 2),
    operator(b"co", "~", 1),
    operator(b"dV", "/=", 2),
    operator(b"da", " delete[]", 0),
    operator(b"de", "*", 1),
    operator(b"dl", " delete", 0),
    operator(b"ds", ".*", 2),
    operator(b"dv", "/", 2),
    operator(b"eO", "^=", 2),
    operator(b"eo", "^", 2),
    operator(b"eq", "==", 2),
    operator(b"ge", ">=", 2),
    operator(b"gt", ">", 2),
    operator(b"ix", "[]", 0),
    operator(b"lS", "<<=", 2),
    operator(b"le", "<=", 2),
    operator(b"ls", "<<", 2),
    operator(b"lt", "<", 2),
    operator(b"mI", "-=", 2),
    operator(b"mL", "*=", 2),
    operator(b"mi", "-", 2),
    operator(b"ml", "*", 2),
    operator(b"mm", "--", 0),
    operator(b"na", " new[]", 0),
    operator(b"ne", "!=", 2),
    operator(b"ng", "-", 1),
    operator(b"nt", "!", 1),
    operator(b"nw", " new", 0),
    operator(b"oR", "|=", 2),
    operator(b"oo", "||", 2),
    operator(b"or", "|", 2),
    operator(b"pL", "+=", 2),
    operator(b"pl", "+", 2),
    operator(b"pm", "->*", 2),
    operator(b"pp", "++", 0),
    operator(b"ps", "+", 1),
    operator(b"pt", "->", 0),
    operator(b"qu", "?", 0),
    operator(b"rM", "%=", 2),
    operator(b"rS", ">>=", 2),
    operator(b"rm", "%", 2),
    operator(b"rs", ">>", 2),
    operator(b"ss", "<=>", 2),
    // Words of expressions.
    operator(b"at", "alignof ", 0),
    operator(b"az", "alignof ", 0),
    operator(b"nx", "noexcept", 0),
    operator(b"st", "sizeof ", 0),
    operator(b"sz", "sizeof ", 0),
    operator(b"te", "typeid ", 0),
    operator(b"ti", "typeid ", 0),
];

/// Finds an operator by its code.
pub(super) fn find(code: &[u8]) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| operator.code[..] == *code)
}

/// Returns the name of a type that one small letter stands for.
pub(super) fn builtin(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'a' => "signed char",
        b'b' => "bool",
        b'c' => "char",
        b'd' => "double",
        b'e' => "long double",
        b'f' => "float",
        b'g' => "__float128",
        b'h' => "unsigned char",
        b'i' => "int",
        b'j' => "unsigned int",
        b'l' => "long",
        b'm' => "unsigned long",
        b'n' => "__int128",
        b'o' => "unsigned __int128",
        b's' => "short",
        b't' => "unsigned short",
        b'v' => "void",
        b'w' => "wchar_t",
        b'x' => "long long",
        b'y' => "unsigned long long",
        b'z' => "...",
        _ => return None,
    })
}

/// Returns the name of a type that `D` and a small letter stand for.
pub(super) fn builtin_after_d(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'a' => "auto",
        b'c' => "decltype(auto)",
        b'd' => "decimal64",
        b'e' => "decimal128",
        b'f' => "decimal32",
        b'h' => "half",
        b'i' => "char32_t",
        b'n' => "decltype(nullptr)",
        b's' => "char16_t",
        b'u' => "char8_t",
        _ => return None,
    })
}

/// A name of the standard library with a code of one letter behind `S`.
pub(super) struct Standard {
    pub(super) short: &'static str,
    /// With its arguments, as it is written before a constructor.
    pub(super) full: &'static str,
    pub(super) own: &'static str,
}

const fn standard(short: &'static str, full: &'static str, own: &'static str) -> Standard {
    Standard { short, full, own }
}

static STRING: Standard = standard(
    "std::string",
    "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
    "basic_string",
);
static IN: Standard =
    standard("std::istream", "std::basic_istream<char, std::char_traits<char> >", "basic_istream");
static OUT: Standard =
    standard("std::ostream", "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream");
static BOTH: Standard =
    standard("std::iostream", "std::basic_iostream<char, std::char_traits<char> >", "basic_iostream");
static ALLOCATOR: Standard = standard("std::allocator", "std::allocator", "allocator");
static BASIC_STRING: Standard = standard("std::basic_string", "std::basic_string", "basic_string");

/// Finds such a name.
pub(super) fn standard_name(letter: u8) -> Option<&'static Standard> {
    Some(match letter {
        b'a' => &ALLOCATOR,
        b'b' => &BASIC_STRING,
        b'd' => &BOTH,
        b'i' => &IN,
        b'o' => &OUT,
        b's' => &STRING,
        _ => return None,
    })
}
