//! The survey of a file: event types and producer.

use std::path::Path;

use gristmill_format::{EventType, ProducerKind, Recording, Survey};

#[test]
fn event_types_are_those_of_the_columns_then_the_derived_ones() {
    let file = b"event: Bm = Bcm + Bim : mispredicted\nevent: Dr : data reads\nevent: Ir\nevent: Ir : instructions\n\
                 event: Ge : not there\nevents: Ir Bcm Dr\nfn=f\n1 1\n";
    let survey = Survey::new(file);
    let header = &survey.parts[0].header;
    assert_eq!(header.event_count(), 3);
    let event = |name, long_name, formula| EventType { name, long_name, formula };
    assert_eq!(
        header.event_types().collect::<Vec<_>>(),
        [
            event(&b"Ir"[..], Some(&b"instructions"[..]), None),
            event(b"Bcm", None, None),
            event(b"Dr", Some(b"data reads"), None),
            event(b"Bm", Some(b"mispredicted"), Some(b"Bcm + Bim")),
        ]
    );
}

#[test]
fn later_parts_inherit_what_holds_for_all() {
    let file =
        b"creator: x\ncmd: a\npositions: instr line\npart: 1\nevent: Ir : one\nevents: Ir\nfn=f\n1 1 1\n\n\
                 part: 2\nevents: Dr Dw\nfn=f\n1 1 5 6\n";
    let survey = Survey::new(file);
    let [first, second] = &survey.parts[..] else { panic!("two parts") };
    assert_eq!(second.header.creator, Some(&b"x"[..]));
    assert_eq!(second.header.command, Some(&b"a"[..]));
    assert_eq!(second.header.columns, first.header.columns);
    assert_eq!(second.header.long_name(b"Ir"), None);
    assert_eq!(survey.totals(first), [1]);
    assert_eq!(survey.totals(second), [5, 6]);
}

#[test]
fn producers_are_known() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    for (file, kind) in [
        ("callgrind/callgrind.out.mill", ProducerKind::Callgrind),
        ("cachegrind/cachegrind.out.mill", ProducerKind::Cachegrind),
        ("cachegrind/cachegrind.merged", ProducerKind::Cachegrind),
        ("cachegrind/cachegrind.diff", ProducerKind::CgDiff),
        ("xtree/xtleak.kcg", ProducerKind::XTree),
        ("python/callgrind.out.pyprof2calltree", ProducerKind::Pyprof2calltree),
        ("python/callgrind.out.pprofile", ProducerKind::Pprofile),
        ("python/callgrind.out.yappi", ProducerKind::Yappi),
        ("dialects/calltree-kde.txt", ProducerKind::KcachegrindConverter),
        ("dialects/go-pprof.txt", ProducerKind::GoPprof),
        ("dialects/klee.txt", ProducerKind::Klee),
        ("dialects/memprof.txt", ProducerKind::Memprof),
        ("dialects/nytprof.txt", ProducerKind::Nytprof),
        ("dialects/orbuculum.txt", ProducerKind::Orbuculum),
        ("dialects/phpspy.txt", ProducerKind::Phpspy),
        ("dialects/reli.txt", ProducerKind::Reli),
        ("dialects/remake.txt", ProducerKind::Remake),
        ("dialects/ruby-prof.txt", ProducerKind::RubyProf),
        ("dialects/windows.txt", ProducerKind::Named),
        ("dialects/xdebug2.txt", ProducerKind::Xdebug),
        ("dialects/xdebug3.txt", ProducerKind::Xdebug),
        ("spec/simple.txt", ProducerKind::Unknown),
    ] {
        let bytes = std::fs::read(corpus.join(file)).unwrap();
        assert_eq!(Survey::new(&bytes).producer.kind, kind, "{file}");
    }
    let converted = b"events: Ticks\nsummary: 7\nfi=~\nfn=<built-in method len>\n0 7\n";
    assert_eq!(Survey::new(converted).producer.kind, ProducerKind::Lsprofcalltree);
    let spx = b"event: wt : Wall time\nevents: wt zm \nfl=a.php\nfn=f\n1 7 8\n";
    assert_eq!(Survey::new(spx).producer.kind, ProducerKind::Spx);
    assert_eq!(ProducerKind::Spx.recording(), Some(Recording::PerInvocation));
    assert!(ProducerKind::GoPprof.is_sampled() && !ProducerKind::GoPprof.is_per_invocation());
}
