"""
What LLVM 22.1 knows of CPUs, by `generate_cpus.py`.
"""

# ruff: noqa: E501

from collections.abc import Mapping

from transom.targets.llvm_cpu.architectures import Architecture

ARCHITECTURES: Mapping[str, Architecture] = {
    "x86_64": Architecture(
        name="x86_64",
        triple="x86_64-unknown-linux-gnu",
        base="x86-64",
        free="64bit 64bit-mode allow-light-256-bit branchfusion cmov cx16 cx8 false-deps-getmant false-deps-lzcnt-tzcnt false-deps-mulc false-deps-mullq false-deps-perm false-deps-popcnt false-deps-range fast-11bytenop fast-15bytenop fast-bextr fast-dpwssd fast-gather fast-hops fast-lzcnt fast-scalar-fsqrt fast-scalar-shift-masks fast-shld-rotate fast-variable-crosslane-shuffle fast-variable-perlane-shuffle fast-vector-fsqrt fast-vector-shift-masks faster-shift-than-shuffle fxsr idivl-to-divb idivq-to-divl lea-sp lea-uses-ag macrofusion mmx no-bypass-delay no-bypass-delay-blend no-bypass-delay-mov no-bypass-delay-shuffle nopl pad-short-functions prefer-128-bit prefer-256-bit prefer-mask-registers sahf slow-3ops-lea slow-incdec slow-lea slow-pmaddwd slow-pmulld slow-shld slow-two-mem-ops slow-unaligned-mem-16 slow-unaligned-mem-32 sse sse-unaligned-mem sse2 tuning-fast-imm-vector-shift use-glm-div-sqrt-costs use-slm-arith-costs vzeroupper x87",
        implies="""\
16bit-mode:
32bit-mode:
adx:
aes:
amx-avx512: amx-tile
amx-bf16: amx-tile
amx-complex: amx-tile
amx-fp16: amx-tile
amx-fp8: amx-tile
amx-int8: amx-tile
amx-movrs: amx-tile
amx-tf32: amx-tile
amx-tile:
avx: sse4.2
avx10.1: avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq
avx10.1-512: avx10.1
avx10.2: avx10.1
avx10.2-512: avx10.2
avx2: avx
avx512bf16: avx512bw
avx512bitalg: avx512bw
avx512bw: avx512f
avx512cd: avx512f
avx512dq: avx512f
avx512f: avx2 f16c fma
avx512fp16: avx512bw
avx512ifma: avx512f
avx512vbmi: avx512bw
avx512vbmi2: avx512bw
avx512vl: avx512f
avx512vnni: avx512f
avx512vp2intersect: avx512f
avx512vpopcntdq: avx512f
avxifma: avx2
avxneconvert: avx2
avxvnni: avx2
avxvnniint16: avx2
avxvnniint8: avx2
bmi:
bmi2:
branch-hint:
ccmp:
cf:
cldemote:
clflushopt:
clwb:
clzero:
cmpccxadd:
crc32:
egpr:
enqcmd:
ermsb:
evex512:
f16c: avx
fast-7bytenop:
fast-imm16:
fast-movbe:
fma: avx
fma4: avx sse4a
fsgsbase:
fsrm:
gfni:
harden-sls-ijmp:
harden-sls-ret:
hreset:
inline-asm-use-gpr32:
invpcid:
kl:
lvi-cfi:
lvi-load-hardening:
lwp:
lzcnt:
movbe:
movdir64b:
movdiri:
movrs:
mwaitx:
ndd:
nf:
pclmul:
pconfig:
pku:
popcnt:
ppx:
prefer-legacy-setcc:
prefer-movmsk-over-vtest:
prefer-no-gather:
prefer-no-scatter:
prefetchi:
prfchw:
ptwrite:
push2pop2:
raoint:
rdpid:
rdpru:
rdrnd:
rdseed:
retpoline: retpoline-indirect-branches retpoline-indirect-calls
retpoline-external-thunk: retpoline-indirect-calls
retpoline-indirect-branches:
retpoline-indirect-calls:
rtm:
sbb-dep-breaking:
serialize:
seses: lvi-cfi
sgx:
sha:
sha512: avx2
shstk:
slow-pmullq:
sm3: avx
sm4: avx2
soft-float:
sse3:
sse4.1: ssse3
sse4.2: sse4.1
sse4a: sse3
ssse3: sse3
tagged-globals:
tbm:
tsxldtrk:
uintr:
usermsr:
vaes: aes avx2
vpclmulqdq: avx pclmul
waitpkg:
wbnoinvd:
widekl: kl
x32:
xop: fma4
xsave:
xsavec: xsave
xsaveopt: xsave
xsaves: xsave
zu:
""",
        cpus="""\
alderlake: adx avxvnni bmi bmi2 clflushopt clwb crc32 f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
amdfam10:
arrowlake: adx avxifma avxneconvert avxvnni avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
arrowlake-s: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk slow-pmullq sm3 sm4 uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
arrowlake_s: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk slow-pmullq sm3 sm4 uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
athlon-fx: prfchw sbb-dep-breaking
athlon64: prfchw sbb-dep-breaking
athlon64-sse3: prfchw sbb-dep-breaking sse3
atom: fast-imm16 movbe ssse3
atom_sse4_2: crc32 fast-7bytenop fast-imm16 fast-movbe movbe pclmul popcnt prfchw rdrnd sse4.2
atom_sse4_2_movbe: aes clflushopt crc32 fast-7bytenop fast-imm16 fast-movbe fsgsbase movbe pclmul popcnt prfchw rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
barcelona:
bdver1: aes crc32 lwp lzcnt pclmul popcnt prfchw sbb-dep-breaking xop xsave
bdver2: aes bmi crc32 f16c fast-movbe fma lwp lzcnt pclmul popcnt prfchw sbb-dep-breaking tbm xop xsave
bdver3: aes bmi crc32 f16c fast-movbe fma fsgsbase lwp lzcnt pclmul popcnt prfchw sbb-dep-breaking tbm xop xsaveopt
bdver4: aes avx2 bmi bmi2 crc32 f16c fast-movbe fma fsgsbase lwp lzcnt movbe mwaitx pclmul popcnt prfchw rdrnd sbb-dep-breaking tbm xop xsaveopt
bonnell: fast-imm16 movbe ssse3
broadwell: adx avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
btver1: fast-imm16 lzcnt popcnt prfchw sbb-dep-breaking sse4a ssse3
btver2: aes bmi crc32 f16c fast-imm16 fast-movbe lzcnt movbe pclmul popcnt prfchw sbb-dep-breaking sse4a xsaveopt
cannonlake: adx aes avx512cd avx512dq avx512ifma avx512vbmi avx512vl bmi bmi2 clflushopt crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed sha slow-pmullq xsavec xsaveopt xsaves
cascadelake: adx aes avx512bw avx512cd avx512dq avx512vl avx512vnni bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
clearwaterforest: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 cldemote clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prefetchi prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk slow-pmullq sm3 sm4 uintr usermsr vaes vpclmulqdq waitpkg xsavec xsaveopt xsaves
cooperlake: adx aes avx512bf16 avx512cd avx512dq avx512vl avx512vnni bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
core-avx-i: crc32 f16c fsgsbase pclmul popcnt rdrnd xsaveopt
core-avx2: avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt rdrnd xsaveopt
core2: ssse3
core_2_duo_sse4_1: sse4.1
core_2_duo_ssse3: ssse3
core_2nd_gen_avx: avx crc32 pclmul popcnt xsaveopt
core_3rd_gen_avx: crc32 f16c fsgsbase pclmul popcnt rdrnd xsaveopt
core_4th_gen_avx: avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt rdrnd xsaveopt
core_4th_gen_avx_tsx: avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt rdrnd xsaveopt
core_5th_gen_avx: adx avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
core_5th_gen_avx_tsx: adx avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
core_aes_pclmulqdq: crc32 pclmul popcnt sse4.2
core_i7_sse4_2: crc32 popcnt sse4.2
corei7: crc32 popcnt sse4.2
corei7-avx: avx crc32 pclmul popcnt xsaveopt
diamondrapids: adx amx-avx512 amx-bf16 amx-complex amx-fp16 amx-fp8 amx-int8 amx-movrs amx-tf32 avx10.2 avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 branch-hint ccmp cldemote clflushopt clwb cmpccxadd crc32 egpr enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri movrs ndd nf pconfig pku popcnt ppx prefetchi prfchw ptwrite push2pop2 rdpid rdrnd rdseed serialize sha sha512 shstk slow-pmullq sm3 sm4 tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves zu
emeraldrapids: adx amx-bf16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
generic:
goldmont: aes clflushopt crc32 fast-imm16 fast-movbe fsgsbase movbe pclmul popcnt prfchw rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
goldmont-plus: aes clflushopt crc32 fast-imm16 fast-movbe fsgsbase movbe pclmul popcnt prfchw ptwrite rdpid rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
goldmont_plus: aes clflushopt crc32 fast-imm16 fast-movbe fsgsbase movbe pclmul popcnt prfchw ptwrite rdpid rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
gracemont: adx avxvnni bmi bmi2 clflushopt clwb crc32 f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
grandridge: adx avxifma avxneconvert avxvnni avxvnniint8 bmi bmi2 cldemote clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
graniterapids: adx amx-bf16 amx-fp16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 branch-hint cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefetchi prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
graniterapids-d: adx amx-bf16 amx-complex amx-fp16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 branch-hint cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefetchi prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
graniterapids_d: adx amx-bf16 amx-complex amx-fp16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 branch-hint cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefetchi prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
haswell: avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt rdrnd xsaveopt
icelake-client: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pku popcnt prfchw rdpid rdrnd rdseed sha slow-pmullq vaes vpclmulqdq xsavec xsaveopt xsaves
icelake-server: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pconfig pku popcnt prfchw rdpid rdrnd rdseed sha slow-pmullq vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
icelake_client: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pku popcnt prfchw rdpid rdrnd rdseed sha slow-pmullq vaes vpclmulqdq xsavec xsaveopt xsaves
icelake_server: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pconfig pku popcnt prfchw rdpid rdrnd rdseed sha slow-pmullq vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
ivybridge: crc32 f16c fsgsbase pclmul popcnt rdrnd xsaveopt
k8: prfchw sbb-dep-breaking
k8-sse3: prfchw sbb-dep-breaking sse3
knl: adx aes avx512cd bmi bmi2 crc32 fast-imm16 fast-movbe fsgsbase lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
knm: adx aes avx512cd avx512vpopcntdq bmi bmi2 crc32 fast-imm16 fast-movbe fsgsbase lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
lunarlake: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk slow-pmullq sm3 sm4 uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
meteorlake: adx avxvnni bmi bmi2 clflushopt clwb crc32 f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
mic_avx512: adx aes avx512cd bmi bmi2 crc32 fast-imm16 fast-movbe fsgsbase lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
nehalem: crc32 popcnt sse4.2
nocona: sse3
novalake: adx avx10.2 avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 ccmp clflushopt clwb cmpccxadd crc32 egpr enqcmd fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri movrs ndd nf pconfig pku popcnt ppx prefer-movmsk-over-vtest prefetchi prfchw ptwrite push2pop2 rdpid rdrnd rdseed serialize sha sha512 shstk slow-pmullq sm3 sm4 uintr vaes vpclmulqdq waitpkg xsavec xsaveopt xsaves zu
opteron: prfchw sbb-dep-breaking
opteron-sse3: prfchw sbb-dep-breaking sse3
pantherlake: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk slow-pmullq sm3 sm4 uintr vaes vpclmulqdq waitpkg xsavec xsaveopt xsaves
penryn: sse4.1
raptorlake: adx avxvnni bmi bmi2 clflushopt clwb crc32 f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
rocketlake: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pku popcnt prfchw rdpid rdrnd rdseed sha slow-pmullq vaes vpclmulqdq xsavec xsaveopt xsaves
sandybridge: avx crc32 pclmul popcnt xsaveopt
sapphirerapids: adx amx-bf16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk slow-pmullq tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
sierraforest: adx avxifma avxneconvert avxvnni avxvnniint8 bmi bmi2 cldemote clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
silvermont: crc32 fast-7bytenop fast-imm16 fast-movbe movbe pclmul popcnt prfchw rdrnd sse4.2
skx: adx aes avx512bw avx512cd avx512dq avx512vl bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
skylake: adx aes avx2 bmi bmi2 clflushopt crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
skylake-avx512: adx aes avx512bw avx512cd avx512dq avx512vl bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
skylake_avx512: adx aes avx512bw avx512cd avx512dq avx512vl bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
slm: crc32 fast-7bytenop fast-imm16 fast-movbe movbe pclmul popcnt prfchw rdrnd sse4.2
tigerlake: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vp2intersect avx512vpopcntdq bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pku popcnt prfchw rdpid rdrnd rdseed sha shstk slow-pmullq vaes vpclmulqdq xsavec xsaveopt xsaves
tremont: aes clflushopt clwb crc32 fast-imm16 fast-movbe fsgsbase gfni movbe pclmul popcnt prfchw ptwrite rdpid rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
westmere: crc32 pclmul popcnt sse4.2
wildcatlake: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefer-movmsk-over-vtest prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk slow-pmullq sm3 sm4 uintr vaes vpclmulqdq waitpkg xsavec xsaveopt xsaves
x86-64:
x86-64-v2: crc32 popcnt sse4.2
x86-64-v3: avx2 bmi bmi2 crc32 f16c fma lzcnt movbe popcnt xsave
x86-64-v4: avx512bw avx512cd avx512dq avx512vl bmi bmi2 crc32 lzcnt movbe popcnt xsave
znver1: adx aes avx2 bmi bmi2 clflushopt clzero crc32 f16c fast-imm16 fast-movbe fma fsgsbase lzcnt movbe mwaitx pclmul popcnt prfchw rdrnd rdseed sbb-dep-breaking sha sse4a xsavec xsaveopt xsaves
znver2: adx aes avx2 bmi bmi2 clflushopt clwb clzero crc32 f16c fast-imm16 fast-movbe fma fsgsbase lzcnt movbe mwaitx pclmul popcnt prfchw rdpid rdpru rdrnd rdseed sbb-dep-breaking sha sse4a wbnoinvd xsavec xsaveopt xsaves
znver3: adx bmi bmi2 clflushopt clwb clzero crc32 f16c fast-imm16 fast-movbe fma fsgsbase fsrm invpcid lzcnt movbe mwaitx pku popcnt prfchw rdpid rdpru rdrnd rdseed sbb-dep-breaking sha sse4a vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
znver4: adx avx512bf16 avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt clwb clzero crc32 fast-imm16 fast-movbe fsgsbase fsrm gfni invpcid lzcnt movbe mwaitx pku popcnt prfchw rdpid rdpru rdrnd rdseed sbb-dep-breaking sha shstk sse4a vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
znver5: adx avx512bf16 avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vp2intersect avx512vpopcntdq avxvnni bmi bmi2 clflushopt clwb clzero crc32 fast-imm16 fast-movbe fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri mwaitx pku popcnt prefetchi prfchw rdpid rdpru rdrnd rdseed sbb-dep-breaking sha shstk sse4a vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
""",
    ),
}
