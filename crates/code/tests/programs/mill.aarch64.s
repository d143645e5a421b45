    .text
    .globl grind
    .type grind, %function
grind:
    stp x29, x30, [sp, #-32]!
    mov x29, sp
    mov w2, #7
    mov x3, #0x12340000
    movk x3, #0x55aa, lsl #32
    add x0, x0, #16
    add w1, w1, w2, lsl #2
    sub sp, sp, #48
    subs x4, x4, #1
    cmp x4, #9
    ccmp w1, #0, #4, ne
    tst x0, #0xff
    and x5, x5, #0xfffffffffffffff0
    orr w6, w6, w7
    eor x8, x8, x9, ror #3
    bic x1, x1, x2
    lsl x0, x0, #3
    lsr w1, w1, #5
    asr x2, x2, #7
    ubfx x3, x3, #4, #8
    sxtw x4, w4
    mul x5, x5, x6
    madd w6, w7, w8, w9
    umulh x7, x8, x9
    sdiv x8, x9, x10
    udiv w9, w10, w11
    rbit x1, x1
    clz w2, w2
    csel x0, x1, x2, lt
    cset w3, eq
    csinc w4, w5, w6, gt
    ldr x0, [x1, #8]
    ldr w1, [x2, x3, lsl #2]
    ldrb w2, [x3], #1
    ldrsw x3, [x4, #-4]!
    ldp x4, x5, [sp, #16]
    str x0, [sp]
    strh w1, [x2, #2]
    ldur x6, [x7, #-8]
    ldxr x0, [x1]
    stlxr w2, x0, [x1]
    ldar x3, [x4]
    ldadd x1, x2, [x3]
    cas w1, w2, [x3]
    adr x0, grind
    adrp x1, grind
again:
    cbz x0, done
    cbnz w1, again
    tbz x2, #33, done
    tbnz w3, #4, again
    b.eq done
    b.cs again
    b.cc done
    b.lt again
    b done
    bl grind
    blr x3
    br x4
    fadd d0, d1, d2
    fmul s3, s4, s5
    fmadd d0, d1, d2, d3
    fcmp d0, #0.0
    fcvtzs w0, d1
    scvtf d2, x3
    fmov d4, #1.0
    fsqrt d5, d6
    add v0.4s, v1.4s, v2.4s
    fmla v3.2d, v4.2d, v5.2d
    cmeq v6.16b, v7.16b, v8.16b
    ld1 { v0.16b }, [x0]
    st1 { v1.8h }, [x1]
    dup v2.4s, w3
    umov w4, v5.b[1]
    addv b6, v7.16b
    tbl v8.16b, { v9.16b }, v10.16b
    dmb ish
    dsb sy
    isb
    mrs x0, tpidr_el0
    msr fpcr, x1
    prfm pldl1keep, [x2]
    svc #0
    brk #1
    nop
    yield
done:
    ldp x29, x30, [sp], #32
    ret
    .size grind, . - grind
