//! The languages of source files, as far as colours need them.

use std::collections::HashMap;

use super::Class;

/// The syntax of a language, as far as [`Class`] distinguishes it.
#[derive(Debug)]
pub(super) struct Language {
    /// The endings of file names, in lower case.
    endings: &'static [&'static str],
    pub(super) line_comments: &'static [&'static [u8]],
    /// The delimiters of block comments.
    pub(super) block_comments: &'static [(&'static [u8], &'static [u8])],
    pub(super) comments_nest: bool,
    /// `true` if a line comment needs a blank before it.
    pub(super) comments_stand_apart: bool,
    pub(super) quotes: &'static [u8],
    /// The quotes of literals that can span lines.
    pub(super) multiline_quotes: &'static [u8],
    pub(super) has_triple_quotes: bool,
    pub(super) escapes_in_backticks: bool,
    /// The letters that can precede a quote.
    pub(super) text_prefixes: &'static [&'static [u8]],
    /// The bytes that names of variables begin with.
    pub(super) sigils: &'static [u8],
    /// `true` if there are directives such as `#include`.
    pub(super) has_preprocessor: bool,
    /// `true` if `'a` is a name and `name!` a macro.
    pub(super) has_lifetimes: bool,
    /// `true` if there are attributes such as `#[…]`.
    pub(super) has_attributes: bool,
    /// `true` if there are decorators such as `@name`.
    pub(super) has_decorators: bool,
    /// `true` if there is documentation from a line `=name` to `=cut` or `=end`.
    pub(super) has_pod: bool,
    /// `true` if code is between `<?` and `?>`.
    pub(super) is_template: bool,
    /// `true` if keywords ignore case.
    pub(super) ignores_case: bool,
    /// `true` if names that begin with a capital are types.
    pub(super) capitals_are_types: bool,
    keywords: &'static str,
    types: &'static str,
}

/// The syntax that most languages share with C.
const PLAIN: Language = Language {
    endings: &[],
    line_comments: &[b"//"],
    block_comments: &[(b"/*", b"*/")],
    comments_nest: false,
    comments_stand_apart: false,
    quotes: b"\"'",
    multiline_quotes: b"",
    has_triple_quotes: false,
    escapes_in_backticks: false,
    text_prefixes: &[],
    sigils: b"",
    has_preprocessor: false,
    has_lifetimes: false,
    has_attributes: false,
    has_decorators: false,
    has_pod: false,
    is_template: false,
    ignores_case: false,
    capitals_are_types: false,
    keywords: "",
    types: "",
};

const C_LIKE: Language = Language {
    endings: &[
        "c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inc", "inl", "ipp", "tcc", "tpp",
        "cu", "cuh", "m", "mm", "def", "y", "l",
    ],
    has_preprocessor: true,
    text_prefixes: &[b"L", b"u", b"U", b"u8", b"R"],
    keywords: "alignas alignof asm auto break case catch class co_await co_return co_yield concept const const_cast \
        consteval constexpr constinit continue decltype default delete do dynamic_cast else enum explicit export extern \
        false final for friend goto if inline mutable namespace new noexcept nullptr operator override private protected \
        public register reinterpret_cast requires restrict return sizeof static static_assert static_cast struct switch \
        template this thread_local throw true try typedef typeid typename union using virtual volatile while NULL \
        _Atomic _Bool _Generic _Noreturn _Static_assert _Thread_local __attribute__ __inline __restrict __asm__",
    types: "bool char char16_t char32_t char8_t double float int int16_t int32_t int64_t int8_t intptr_t long off_t \
        ptrdiff_t short signed size_t ssize_t uint16_t uint32_t uint64_t uint8_t uintptr_t unsigned void wchar_t FILE",
    ..PLAIN
};

const RUST: Language = Language {
    endings: &["rs"],
    comments_nest: true,
    multiline_quotes: b"\"",
    text_prefixes: &[b"r", b"b", b"br", b"c", b"cr"],
    has_lifetimes: true,
    has_attributes: true,
    capitals_are_types: true,
    keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod \
        move mut pub ref return self Self static struct super trait true type union unsafe use where while yield",
    types: "bool char f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize",
    ..PLAIN
};

const GO: Language = Language {
    endings: &["go"],
    quotes: b"\"'`",
    multiline_quotes: b"`",
    keywords: "break case chan const continue default defer else fallthrough false for func go goto if import interface \
        iota map nil package range return select struct switch true type var",
    types: "any bool byte comparable complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string \
        uint uint16 uint32 uint64 uint8 uintptr",
    ..PLAIN
};

const PYTHON: Language = Language {
    endings: &["py", "pyi", "pyx", "pxd"],
    line_comments: &[b"#"],
    block_comments: &[],
    has_triple_quotes: true,
    has_decorators: true,
    text_prefixes: &[b"b", b"r", b"f", b"u", b"br", b"rb", b"fr", b"rf", b"B", b"R", b"F", b"U"],
    keywords: "False None True and as assert async await break case class continue def del elif else except finally for \
        from global if import in is lambda match nonlocal not or pass raise return try while with yield self cls",
    types: "bool bytearray bytes complex dict float frozenset int list object set str tuple type",
    ..PLAIN
};

const PHP: Language = Language {
    endings: &["php", "phtml", "inc.php", "php5", "phpt"],
    line_comments: &[b"//", b"#"],
    multiline_quotes: b"\"'",
    has_attributes: true,
    is_template: true,
    ignores_case: true,
    sigils: b"$",
    keywords: "abstract and array as break callable case catch class clone const continue declare default do echo else \
        elseif empty enddeclare endfor endforeach endif endswitch endwhile enum extends false final finally fn for foreach \
        function global goto if implements include include_once instanceof insteadof interface isset list match namespace \
        new null or parent print private protected public readonly require require_once return self static switch this \
        throw trait true try unset use var while xor yield",
    types: "bool float int iterable mixed never object string void",
    ..PLAIN
};

const RUBY: Language = Language {
    endings: &["rb", "rake", "gemspec", "ru"],
    line_comments: &[b"#"],
    block_comments: &[],
    comments_stand_apart: true,
    quotes: b"\"'`",
    escapes_in_backticks: true,
    sigils: b"$@:",
    has_pod: true,
    capitals_are_types: true,
    keywords: "BEGIN END alias and begin break case class def defined do else elsif end ensure extend false for if in \
        include lambda loop module next nil not or prepend private proc protected public raise redo require \
        require_relative rescue retry return self super then true undef unless until when while yield attr_accessor \
        attr_reader attr_writer",
    ..PLAIN
};

const PERL: Language = Language {
    endings: &["pl", "pm", "t", "plx", "xs"],
    line_comments: &[b"#"],
    block_comments: &[],
    comments_stand_apart: true,
    quotes: b"\"'`",
    escapes_in_backticks: true,
    sigils: b"$@%",
    has_pod: true,
    keywords: "and bless cmp continue defined delete die do each else elsif eq eval exists for foreach ge given goto grep \
        gt if join keys last le local lt map my ne next no not or our package pop print push redo ref require return \
        scalar shift sort splice split sub undef unless unshift until use values wantarray warn when while x xor",
    ..PLAIN
};

const JAVASCRIPT: Language = Language {
    endings: &["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts"],
    quotes: b"\"'`",
    multiline_quotes: b"`",
    escapes_in_backticks: true,
    has_decorators: true,
    sigils: b"$",
    keywords: "abstract as async await break case catch class const continue debugger declare default delete do else enum \
        export extends false finally for from function get if implements import in infer instanceof interface is keyof let \
        namespace new null of private protected public readonly return satisfies set static super switch this throw true \
        try type typeof undefined var void while with yield",
    types: "any bigint boolean never number object string symbol unknown",
    ..PLAIN
};

/// Java, C#, Kotlin, Scala, Swift, D and Zig, which are similar enough.
const JAVA_LIKE: Language = Language {
    endings: &["java", "cs", "kt", "kts", "scala", "swift", "d", "di", "zig", "dart", "groovy", "v", "vala"],
    has_triple_quotes: true,
    has_decorators: true,
    capitals_are_types: true,
    keywords: "abstract actor alias as async await base break case catch class comptime const continue data def default \
        defer delegate do else enum event explicit export extends extension false final finally fn for foreach func fun \
        get given guard if implements import in init inline inout instanceof interface internal is let lock match mixin \
        module mut namespace native new nil null object of open operator out override package private protected protocol \
        pub public readonly record ref return sealed self set static struct super suspend switch synchronized template \
        test this throw throws trait transient true try type typeof undefined union unittest unsafe using val var virtual \
        volatile when where while with yield",
    types: "bool boolean byte char decimal double f32 f64 float i128 i16 i32 i64 i8 int isize long real short size_t string \
        u128 u16 u32 u64 u8 ubyte uint ulong usize ushort void wchar dchar",
    ..PLAIN
};

const SHELL: Language = Language {
    endings: &["sh", "bash", "zsh", "ksh", "mk", "mak", "makefile", "gnumakefile", "cmake", "tcl"],
    line_comments: &[b"#"],
    block_comments: &[],
    comments_stand_apart: true,
    quotes: b"\"'`",
    escapes_in_backticks: true,
    sigils: b"$",
    keywords: "break case continue define do done elif else endef endif esac eval exec exit export fi for function if \
        ifdef ifeq ifndef ifneq in include local return select set shift then trap unset until while override vpath",
    ..PLAIN
};

const LUA: Language = Language {
    endings: &["lua"],
    line_comments: &[b"--"],
    block_comments: &[(b"--[[", b"]]"), (b"[[", b"]]")],
    keywords: "and break do else elseif end false for function goto if in local nil not or repeat return then true until \
        while",
    ..PLAIN
};

const HASKELL: Language = Language {
    endings: &["hs", "lhs", "elm"],
    line_comments: &[b"--"],
    block_comments: &[(b"{-", b"-}")],
    comments_nest: true,
    quotes: b"\"",
    capitals_are_types: true,
    keywords: "as case class data deriving do else forall foreign hiding if import in infix infixl infixr instance let mdo \
        module newtype of qualified then type where",
    ..PLAIN
};

const OCAML: Language = Language {
    endings: &["ml", "mli", "fs", "fsi", "sml"],
    line_comments: &[],
    block_comments: &[(b"(*", b"*)")],
    comments_nest: true,
    quotes: b"\"",
    multiline_quotes: b"\"",
    capitals_are_types: true,
    keywords: "and as assert begin class constraint do done downto else end exception external false for fun function \
        functor if in include inherit initializer lazy let match method module mutable new nonrec object of open or private \
        rec sig struct then to true try type val virtual when while with",
    types: "bool bytes char exn float int list option string unit",
    ..PLAIN
};

const ERLANG: Language = Language {
    endings: &["erl", "hrl"],
    line_comments: &[b"%"],
    block_comments: &[],
    keywords: "after and andalso band begin bnot bor bsl bsr bxor case catch cond div end fun if let maybe not of or orelse \
        receive rem try when xor",
    ..PLAIN
};

const ELIXIR: Language = Language {
    endings: &["ex", "exs"],
    line_comments: &[b"#"],
    block_comments: &[],
    has_triple_quotes: true,
    has_decorators: true,
    capitals_are_types: true,
    keywords: "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end false \
        fn for if import in nil not or quote raise receive require rescue super true try unless unquote use when with",
    ..PLAIN
};

const FORTRAN: Language = Language {
    endings: &["f", "for", "f77", "f90", "f95", "f03", "f08"],
    line_comments: &[b"!"],
    block_comments: &[],
    ignores_case: true,
    keywords: "allocatable allocate associate call case class common contains continue cycle data deallocate do else \
        elseif elsewhere end enddo endif entry equivalence exit external format function go goto if implicit in inout \
        intent interface intrinsic kind module none null only out parameter pointer print private procedure program public \
        pure read recursive result return save select stop subroutine target then to type use where while write",
    types: "character complex double integer logical precision real",
    ..PLAIN
};

const ADA: Language = Language {
    endings: &["adb", "ads", "ada", "vhd", "vhdl"],
    line_comments: &[b"--"],
    block_comments: &[],
    quotes: b"\"",
    ignores_case: true,
    keywords: "abort abs abstract accept access aliased all and array at begin body case constant declare delay delta \
        digits do else elsif end entry exception exit for function generic goto if in interface is limited loop mod new not \
        null of or others out overriding package pragma private procedure protected raise range record rem renames requeue \
        return reverse select separate some subtype synchronized tagged task terminate then type until use when while with \
        xor",
    types: "boolean character duration float integer natural positive string",
    ..PLAIN
};

const ASSEMBLER: Language = Language {
    endings: &["s", "asm", "nasm"],
    line_comments: &[b"//", b";", b"#"],
    comments_stand_apart: true,
    sigils: b"%.",
    has_preprocessor: true,
    ..PLAIN
};

static LANGUAGES: [Language; 18] = [
    C_LIKE, RUST, GO, PYTHON, PHP, RUBY, PERL, JAVASCRIPT, JAVA_LIKE, SHELL, LUA, HASKELL, OCAML, ERLANG,
    ELIXIR, FORTRAN, ADA, ASSEMBLER,
];

impl Language {
    /// Finds the language of a file by the ending of its name.
    pub(super) fn of(path: &[u8]) -> Option<&'static Self> {
        let name = path.rsplit(|&byte| byte == b'/' || byte == b'\\').next()?;
        let Some(dot) = name.iter().rposition(|&byte| byte == b'.') else {
            // The headers of the C++ library have no ending.
            let is_header = path.windows(5).any(|part| part == b"/c++/");
            let is_makefile = name.eq_ignore_ascii_case(b"makefile") || name == b"GNUmakefile";
            return match (is_header, is_makefile) {
                (true, _) => LANGUAGES.first(),
                (_, true) => Self::by_ending(b"mk"),
                _ => None,
            };
        };
        Self::by_ending(name.get(dot + 1..)?)
    }

    fn by_ending(ending: &[u8]) -> Option<&'static Self> {
        let ending = ending.to_ascii_lowercase();
        let fits = |language: &&Language| language.endings.iter().any(|own| own.as_bytes() == ending);
        LANGUAGES.iter().find(fits)
    }

    /// The words with a meaning, with their classes. If keywords ignore case, the words are in lower case.
    pub(super) fn words(&self) -> HashMap<Vec<u8>, Class> {
        let all = [(self.keywords, Class::Keyword), (self.types, Class::Type)];
        let spelled =
            |word: &str| if self.ignores_case { word.to_ascii_lowercase() } else { word.to_owned() };
        let words = all.iter().flat_map(|&(words, class)| {
            words.split_ascii_whitespace().map(move |word| (spelled(word).into_bytes(), class))
        });
        words.collect()
    }
}
