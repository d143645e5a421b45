//! The programs that both engines record, and the files that they read.

use std::fmt::Write as _;
use std::path::Path;

use super::process;
use crate::failure::{Context as _, Failure};

/// A command, by its words. `sh:` before the words of one means that the shell runs them.
pub(super) const COMMANDS: [&str; 91] = [
    "true",
    "gzip -nc text",
    "gzip -dc text.gz",
    "bzip2 -c text",
    "xz -1 -c text",
    "zstd -q -c text",
    "sort text",
    "sort -n numbers",
    "sort --parallel=2 -S 10M text",
    "xz -T2 --block-size=20000 -1 -c text",
    "zstd -q -T2 -B20000 -c text",
    "grep -c e.*a text",
    "grep -E -o [a-m]{5} text",
    "sed s/a[lm]/X/g text",
    "awk {n[$1]++}END{for(k{SPACE}in{SPACE}n)m++;print{SPACE}m} text",
    "perl -ne $h{$_}++for/\\w+/g;END{print{SPACE}scalar{SPACE}keys%h,qq(\\n)} text",
    "/usr/bin/python3 -S program.py",
    "sqlite3 :memory: .read{SPACE}program.sql",
    "bc program.bc",
    "tclsh program.tcl",
    "./of-ocaml",
    "./of-go",
    "./of-rust",
    "convert-im6.q16 -limit thread 1 -size 40x40 gradient:red-blue -blur 0x2 -resize 30x30 out.png",
    "grep -P -c (\\w)\\1\\w*e text",
    "node --version",
    "java -Xint -XX:+UseSerialGC -XX:-UsePerfData -version",
    "jq -c .[]|.a rows.json",
    "git hash-object text",
    "git diff --no-index text other",
    "make -f program.mk",
    "tar -cf out.tar text numbers",
    "tar -tf text.tar",
    "diff text other",
    "patch -s -o patched text change",
    "cmp text other",
    "gcc -E program.c -o out.i",
    "as program.s -o out.o",
    "ld -r program.o -o out.o",
    "objdump -d program.o",
    "nm program.o",
    "readelf -a program.o",
    "size program.o",
    "strings program.o",
    "strip -o stripped.o program.o",
    "ar rc out.a program.o",
    "c++filt _ZN3foo3barEv _ZNSt6vectorIiSaIiEE9push_backERKi",
    "addr2line -e program.o 0",
    "ls -l",
    "cp text out.text",
    "find . -name t*",
    "stat -c %s text",
    "cat text",
    "head -n 100 text",
    "tail -n 100 text",
    "tac text",
    "rev text",
    "nl text",
    "fold -w 20 text",
    "fmt text",
    "pr -t text",
    "paste text numbers",
    "comm numbers numbers",
    "split -l 1000 text part.",
    "shuf --random-source=text -n 100 text",
    "tsort pairs",
    "numfmt --from=iec 1K 2M 3G",
    "printf %s-%d\\n a 12",
    "echo a b c",
    "md5sum text",
    "sha1sum text",
    "sha256sum text",
    "sha512sum text",
    "b2sum text",
    "cksum text",
    "base64 text",
    "od -x text",
    "hexdump -C text",
    "cut -c 1-5 text",
    "uniq -c numbers",
    "wc text",
    "join numbers numbers",
    "factor 1234567890123 18446744073709551615",
    "seq 1 20000",
    "expr 12345 * 678",
    "date -u -d 2020-02-02 +%F",
    "id -u",
    "file text program.o",
    "openssl dgst -sha256 text",
    "curl --version",
    "bash -c for{SPACE}((i=0;i<2000;i++));do{SPACE}s=$((s+i*i));done;echo{SPACE}$s",
];

/// Stands for a space within a word.
const SPACE: &str = "{SPACE}";

/// Returns the words of a command.
pub(super) fn words(command: &str) -> Vec<String> {
    command.split(' ').map(|word| word.replace(SPACE, " ").replace("\\n", "\n")).collect()
}

/// Writes the files that the commands read.
pub(super) fn write_files(folder: &Path) -> Result<(), Failure> {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let (mut text, mut other, mut numbers, mut pairs, mut rows) =
        (String::new(), String::new(), String::new(), String::new(), "[".to_owned());
    for line in 0..4000u32 {
        let mut words = String::new();
        for _ in 0..random(9) + 1 {
            for _ in 0..random(7) + 2 {
                words.push(char::from(b'a' + u8::try_from(random(26)).unwrap_or(0)));
            }
            words.push(' ');
        }
        let _ = writeln!(text, "{words}");
        let _ = writeln!(other, "{}", if line % 50 == 7 { "changed" } else { &words });
        let _ = writeln!(numbers, "{:06} {}", line / 3, random(100));
        let _ = writeln!(pairs, "n{} n{}", line, line + 1 + u32::try_from(random(5)).unwrap_or(0));
        let _ =
            write!(rows, "{}{{\"a\":{},\"b\":\"{words}\"}}", if line > 0 { "," } else { "" }, random(1000));
    }
    rows.push(']');
    let mut assembler = ".text\n".to_owned();
    for index in 0..500 {
        let _ = writeln!(
            assembler,
            "f{index}: mov $%{index}, %eax\n add f{index}(%rip), %rbx\n jne f{index}\n ret"
        );
    }
    let assembler = assembler.replace("$%", "$");
    let files: [(&str, &str); 14] = [
        ("text", &text),
        ("other", &other),
        ("numbers", &numbers),
        ("pairs", &pairs),
        ("rows.json", &rows),
        ("program.s", &assembler),
        ("program.py", PYTHON),
        ("program.sql", SQL),
        ("program.bc", "scale=60\nfor (i = 1; i < 60; i++) s += sqrt(i) / i\ns\nquit\n"),
        (
            "program.tcl",
            "for {set i 0} {$i < 5000} {incr i} {dict set d k$i [expr {$i * 3}]}\nputs [dict size $d]\n",
        ),
        ("program.ml", OCAML),
        ("program.go", GO),
        ("program.rs", RUST),
        ("program.mk", MAKE),
    ];
    let files = files.iter().chain(&[(
        "program.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return EOF + 1; }\n",
    )]);
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::write(&path, content).context(|| format!("cannot write {}", path.display()))?;
    }
    // What a tool makes of these is an input of others; where it is missing, so are they.
    for (command, output) in [
        ("gzip -nc text", Some("text.gz")),
        ("tar -cf text.tar text numbers", None),
        ("as program.s -o program.o", None),
        ("ocamlopt -o of-ocaml program.ml", None),
        ("go build -o of-go program.go", None),
        ("rustc -O -o of-rust program.rs", None),
        ("diff text other", Some("change")),
    ] {
        let words = words(command);
        if !process::is_on_path(&words[0]) {
            continue;
        }
        let done = std::process::Command::new(&words[0]).args(&words[1..]).current_dir(folder).output();
        let done = done.context(|| format!("cannot run {command}"))?;
        if let Some(output) = output {
            let path = folder.join(output);
            std::fs::write(&path, &done.stdout).context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

const OCAML: &str = "\
module M = Map.Make (String)
let m = ref M.empty
let () =
  for i = 1 to 2000 do m := M.add (string_of_int (i * 7919 mod 1009)) i !m done;
  (try ignore (M.find \"none\" !m) with Not_found -> print_endline \"none\");
  Printf.printf \"%d\\n\" (M.cardinal !m)
";

const GO: &str = "\
package main
import \"fmt\"
func main() {
    sums := make(chan int)
    for i := 0; i < 4; i++ {
        go func(n int) {
            m := map[int]int{}
            for k := 0; k < 2000; k++ { m[k*7919%1009] += n }
            sums <- len(m)
        }(i)
    }
    sum := 0
    for i := 0; i < 4; i++ { sum += <-sums }
    fmt.Println(sum)
}
";

const RUST: &str = "\
use std::sync::mpsc::channel;
fn sums(count: u64) -> u64 {
    let (send, receive) = channel();
    let threads: Vec<_> = (0..4u64).map(|n| {
        let send = send.clone();
        std::thread::spawn(move || send.send((0..count).map(|i| i ^ n).sum::<u64>()).unwrap())
    }).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    drop(send);
    receive.iter().sum()
}
fn main() {
    println!(\"{}\", sums(10) + sums(10_000));
    assert!(std::panic::catch_unwind(|| assert!(sums(0) > 0)).is_err());
}
";

const PYTHON: &str = "\
import json
class Node:
    def __init__(self, value): self.value, self.next = value, None
nodes = [Node(i * 7919%1009) for i in range(2000)]
text = json.dumps([{'value': node.value, 'name': 'n%d' % node.value} for node in nodes])
print(sum(row['value'] for row in json.loads(text)), len(sorted(nodes, key=lambda node: node.value)))
";

const SQL: &str = "\
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT i, 'row ' || (i * 7919%1009), i / 7.0 FROM n;
CREATE INDEX u ON t(b);
SELECT count(*), sum(length(b)), round(avg(c), 3) FROM t WHERE b > 'row 5';
SELECT b, count(*) FROM t GROUP BY b ORDER BY 2 DESC, 1 LIMIT 5;
";

const MAKE: &str = "\
names := $(foreach i,1 2 3 4 5 6 7 8 9,$(foreach j,a b c d e f,$(j)$(i)))
all: $(names)
$(names): ; $(info $@)
";
