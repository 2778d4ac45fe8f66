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
        free="16bit-mode 32bit-mode 64bit 64bit-mode allow-light-256-bit branch-hint branchfusion cmov cx16 cx8 false-deps-getmant false-deps-lzcnt-tzcnt false-deps-mulc false-deps-mullq false-deps-perm false-deps-popcnt false-deps-range fast-11bytenop fast-15bytenop fast-7bytenop fast-bextr fast-dpwssd fast-gather fast-hops fast-imm16 fast-lzcnt fast-movbe fast-scalar-fsqrt fast-scalar-shift-masks fast-shld-rotate fast-variable-crosslane-shuffle fast-variable-perlane-shuffle fast-vector-fsqrt fast-vector-shift-masks faster-shift-than-shuffle fxsr harden-sls-ijmp harden-sls-ret idivl-to-divb idivq-to-divl inline-asm-use-gpr32 lea-sp lea-uses-ag lvi-cfi lvi-load-hardening macrofusion mmx no-bypass-delay no-bypass-delay-blend no-bypass-delay-mov no-bypass-delay-shuffle nopl pad-short-functions prefer-128-bit prefer-256-bit prefer-legacy-setcc prefer-mask-registers prefer-movmsk-over-vtest prefer-no-gather prefer-no-scatter retpoline retpoline-external-thunk retpoline-indirect-branches retpoline-indirect-calls sahf sbb-dep-breaking seses slow-3ops-lea slow-incdec slow-lea slow-pmaddwd slow-pmulld slow-pmullq slow-shld slow-two-mem-ops slow-unaligned-mem-16 slow-unaligned-mem-32 soft-float sse sse-unaligned-mem sse2 tagged-globals tuning-fast-imm-vector-shift use-glm-div-sqrt-costs use-slm-arith-costs vzeroupper x87",
        implies="""\
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
fma: avx
fma4: avx sse4a
fsgsbase:
fsrm:
gfni:
hreset:
invpcid:
kl:
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
prefetchi:
prfchw:
ptwrite:
push2pop2:
raoint:
rdpid:
rdpru:
rdrnd:
rdseed:
rtm:
serialize:
sgx:
sha:
sha512: avx2
shstk:
sm3: avx
sm4: avx2
sse3:
sse4.1: ssse3
sse4.2: sse4.1
sse4a: sse3
ssse3: sse3
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
alderlake: adx avxvnni bmi bmi2 clflushopt clwb crc32 f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
amdfam10: lzcnt popcnt prfchw sse4a
arrowlake: adx avxifma avxneconvert avxvnni avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
arrowlake-s: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk sm3 sm4 uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
arrowlake_s: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk sm3 sm4 uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
athlon-fx: prfchw
athlon64: prfchw
athlon64-sse3: prfchw sse3
atom: movbe ssse3
atom_sse4_2: crc32 movbe pclmul popcnt prfchw rdrnd sse4.2
atom_sse4_2_movbe: aes clflushopt crc32 fsgsbase movbe pclmul popcnt prfchw rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
barcelona: lzcnt popcnt prfchw sse4a
bdver1: aes crc32 lwp lzcnt pclmul popcnt prfchw xop xsave
bdver2: aes bmi crc32 f16c fma lwp lzcnt pclmul popcnt prfchw tbm xop xsave
bdver3: aes bmi crc32 f16c fma fsgsbase lwp lzcnt pclmul popcnt prfchw tbm xop xsaveopt
bdver4: aes avx2 bmi bmi2 crc32 f16c fma fsgsbase lwp lzcnt movbe mwaitx pclmul popcnt prfchw rdrnd tbm xop xsaveopt
bonnell: movbe ssse3
broadwell: adx avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
btver1: lzcnt popcnt prfchw sse4a ssse3
btver2: aes bmi crc32 f16c lzcnt movbe pclmul popcnt prfchw sse4a xsaveopt
cannonlake: adx aes avx512cd avx512dq avx512ifma avx512vbmi avx512vl bmi bmi2 clflushopt crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed sha xsavec xsaveopt xsaves
cascadelake: adx aes avx512bw avx512cd avx512dq avx512vl avx512vnni bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
clearwaterforest: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 cldemote clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefetchi prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk sm3 sm4 uintr usermsr vaes vpclmulqdq waitpkg xsavec xsaveopt xsaves
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
diamondrapids: adx amx-avx512 amx-bf16 amx-complex amx-fp16 amx-fp8 amx-int8 amx-movrs amx-tf32 avx10.2 avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 ccmp cldemote clflushopt clwb cmpccxadd crc32 egpr enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri movrs ndd nf pconfig pku popcnt ppx prefetchi prfchw ptwrite push2pop2 rdpid rdrnd rdseed serialize sha sha512 shstk sm3 sm4 tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves zu
emeraldrapids: adx amx-bf16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
generic:
goldmont: aes clflushopt crc32 fsgsbase movbe pclmul popcnt prfchw rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
goldmont-plus: aes clflushopt crc32 fsgsbase movbe pclmul popcnt prfchw ptwrite rdpid rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
goldmont_plus: aes clflushopt crc32 fsgsbase movbe pclmul popcnt prfchw ptwrite rdpid rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
gracemont: adx avxvnni bmi bmi2 clflushopt clwb crc32 f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
grandridge: adx avxifma avxneconvert avxvnni avxvnniint8 bmi bmi2 cldemote clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
graniterapids: adx amx-bf16 amx-fp16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefetchi prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
graniterapids-d: adx amx-bf16 amx-complex amx-fp16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefetchi prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
graniterapids_d: adx amx-bf16 amx-complex amx-fp16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prefetchi prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
haswell: avx2 bmi bmi2 crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt rdrnd xsaveopt
icelake-client: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pku popcnt prfchw rdpid rdrnd rdseed sha vaes vpclmulqdq xsavec xsaveopt xsaves
icelake-server: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pconfig pku popcnt prfchw rdpid rdrnd rdseed sha vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
icelake_client: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pku popcnt prfchw rdpid rdrnd rdseed sha vaes vpclmulqdq xsavec xsaveopt xsaves
icelake_server: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pconfig pku popcnt prfchw rdpid rdrnd rdseed sha vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
ivybridge: crc32 f16c fsgsbase pclmul popcnt rdrnd xsaveopt
k8: prfchw
k8-sse3: prfchw sse3
knl: adx aes avx512cd bmi bmi2 crc32 fsgsbase lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
knm: adx aes avx512cd avx512vpopcntdq bmi bmi2 crc32 fsgsbase lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
lunarlake: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk sm3 sm4 uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
meteorlake: adx avxvnni bmi bmi2 clflushopt clwb crc32 f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
mic_avx512: adx aes avx512cd bmi bmi2 crc32 fsgsbase lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsaveopt
nehalem: crc32 popcnt sse4.2
nocona: sse3
novalake: adx avx10.2 avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 ccmp clflushopt clwb cmpccxadd crc32 egpr enqcmd fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri movrs ndd nf pconfig pku popcnt ppx prefetchi prfchw ptwrite push2pop2 rdpid rdrnd rdseed serialize sha sha512 shstk sm3 sm4 uintr vaes vpclmulqdq waitpkg xsavec xsaveopt xsaves zu
opteron: prfchw
opteron-sse3: prfchw sse3
pantherlake: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk sm3 sm4 uintr vaes vpclmulqdq waitpkg xsavec xsaveopt xsaves
penryn: sse4.1
raptorlake: adx avxvnni bmi bmi2 clflushopt clwb crc32 f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
rocketlake: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe pku popcnt prfchw rdpid rdrnd rdseed sha vaes vpclmulqdq xsavec xsaveopt xsaves
sandybridge: avx crc32 pclmul popcnt xsaveopt
sapphirerapids: adx amx-bf16 amx-int8 avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxvnni bmi bmi2 cldemote clflushopt clwb crc32 enqcmd ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk tsxldtrk uintr vaes vpclmulqdq waitpkg wbnoinvd xsavec xsaveopt xsaves
sierraforest: adx avxifma avxneconvert avxvnni avxvnniint8 bmi bmi2 cldemote clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha shstk uintr vaes vpclmulqdq waitpkg widekl xsavec xsaveopt xsaves
silvermont: crc32 movbe pclmul popcnt prfchw rdrnd sse4.2
skx: adx aes avx512bw avx512cd avx512dq avx512vl bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
skylake: adx aes avx2 bmi bmi2 clflushopt crc32 ermsb f16c fma fsgsbase invpcid lzcnt movbe pclmul popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
skylake-avx512: adx aes avx512bw avx512cd avx512dq avx512vl bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
skylake_avx512: adx aes avx512bw avx512cd avx512dq avx512vl bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase invpcid lzcnt movbe pclmul pku popcnt prfchw rdrnd rdseed xsavec xsaveopt xsaves
slm: crc32 movbe pclmul popcnt prfchw rdrnd sse4.2
tigerlake: adx avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vp2intersect avx512vpopcntdq bmi bmi2 clflushopt clwb crc32 ermsb fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri pku popcnt prfchw rdpid rdrnd rdseed sha shstk vaes vpclmulqdq xsavec xsaveopt xsaves
tremont: aes clflushopt clwb crc32 fsgsbase gfni movbe pclmul popcnt prfchw ptwrite rdpid rdrnd rdseed sha sse4.2 xsavec xsaveopt xsaves
westmere: crc32 pclmul popcnt sse4.2
wildcatlake: adx avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 clflushopt clwb cmpccxadd crc32 enqcmd f16c fma fsgsbase gfni hreset invpcid lzcnt movbe movdir64b movdiri pconfig pku popcnt prfchw ptwrite rdpid rdrnd rdseed serialize sha sha512 shstk sm3 sm4 uintr vaes vpclmulqdq waitpkg xsavec xsaveopt xsaves
x86-64:
x86-64-v2: crc32 popcnt sse4.2
x86-64-v3: avx2 bmi bmi2 crc32 f16c fma lzcnt movbe popcnt xsave
x86-64-v4: avx512bw avx512cd avx512dq avx512vl bmi bmi2 crc32 lzcnt movbe popcnt xsave
znver1: adx aes avx2 bmi bmi2 clflushopt clzero crc32 f16c fma fsgsbase lzcnt movbe mwaitx pclmul popcnt prfchw rdrnd rdseed sha sse4a xsavec xsaveopt xsaves
znver2: adx aes avx2 bmi bmi2 clflushopt clwb clzero crc32 f16c fma fsgsbase lzcnt movbe mwaitx pclmul popcnt prfchw rdpid rdpru rdrnd rdseed sha sse4a wbnoinvd xsavec xsaveopt xsaves
znver3: adx bmi bmi2 clflushopt clwb clzero crc32 f16c fma fsgsbase fsrm invpcid lzcnt movbe mwaitx pku popcnt prfchw rdpid rdpru rdrnd rdseed sha sse4a vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
znver4: adx avx512bf16 avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq bmi bmi2 clflushopt clwb clzero crc32 fsgsbase fsrm gfni invpcid lzcnt movbe mwaitx pku popcnt prfchw rdpid rdpru rdrnd rdseed sha shstk sse4a vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
znver5: adx avx512bf16 avx512bitalg avx512cd avx512dq avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vp2intersect avx512vpopcntdq avxvnni bmi bmi2 clflushopt clwb clzero crc32 fsgsbase fsrm gfni invpcid lzcnt movbe movdir64b movdiri mwaitx pku popcnt prefetchi prfchw rdpid rdpru rdrnd rdseed sha shstk sse4a vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves
""",
    ),
    "aarch64": Architecture(
        name="aarch64",
        triple="aarch64-unknown-linux-gnu",
        base="generic",
        free="a320 a35 a510 a520 a520ae a53 a55 a57 a64fx a65 a710 a715 a72 a720 a720ae a73 a75 a76 a77 a78 a78ae a78c addr-lsl-slow-14 aggressive-fma aggressive-interleaving all alternate-sextload-cvt-f32-pattern alu-lsl-fast ampere1 ampere1a ampere1b ampere1c apple-a10 apple-a11 apple-a12 apple-a13 apple-a14 apple-a15 apple-a16 apple-a17 apple-a7 apple-m4 apple-m5 arith-bcc-fusion arith-cbz-fusion ascend-store-address avoid-ldapur balance-fp-ops c1-nano c1-premium c1-pro c1-ultra call-saved-x10 call-saved-x11 call-saved-x12 call-saved-x13 call-saved-x14 call-saved-x15 call-saved-x18 call-saved-x8 call-saved-x9 carmel cmp-bcc-fusion cortex-a725 cortex-r82 cortex-r82ae cortex-x1 cortex-x2 cortex-x3 cortex-x4 cortex-x925 disable-fast-inc-vl disable-latency-sched-heuristic disable-ldp disable-maximize-scalable-bandwidth disable-stp disable-unpredicated-ld-st-lower enable-select-opt ete execute-only exynos-cheap-as-move exynosm3 exynosm4 falkor fix-cortex-a53-835769 force-32bit-jump-tables fp-armv8 fujitsu-monaka fuse-address fuse-addsub-2reg-const1 fuse-adrp-add fuse-aes fuse-arith-logic fuse-crypto-eor fuse-csel fuse-cset fuse-literals harden-sls-blr harden-sls-nocomdat harden-sls-retbr kryo ldp-aligned-only max-interleave-factor-4 neon neoverse512tvb neoversee1 neoversen1 neoversen2 neoversen3 neoversev1 neoversev2 neoversev3 neoversev3AE no-bti-at-return-twice no-neg-immediates no-sve-fp-ld1r no-zcz-fpr64 olympus oryon-1 outline-atomics predictable-select-expensive reserve-lr-for-ra reserve-x1 reserve-x10 reserve-x11 reserve-x12 reserve-x13 reserve-x14 reserve-x15 reserve-x18 reserve-x2 reserve-x20 reserve-x21 reserve-x22 reserve-x23 reserve-x24 reserve-x25 reserve-x26 reserve-x27 reserve-x28 reserve-x3 reserve-x4 reserve-x5 reserve-x6 reserve-x7 reserve-x9 saphira slow-misaligned-128store slow-paired-128 slow-strqro-store store-pair-suppress stp-aligned-only strict-align tagged-globals thunderx thunderx2t99 thunderx3t110 thunderxt81 thunderxt83 thunderxt88 tpidr-el1 tpidr-el2 tpidr-el3 tpidrro-el0 trbe tsv110 use-experimental-zeroing-pseudos use-fixed-over-scalable-if-equal-cost use-postra-scheduler use-reciprocal-square-root use-wzr-to-vec-move zcm-fpr128 zcm-fpr32 zcm-fpr64 zcm-gpr32 zcm-gpr64 zcz-fp-workaround zcz-fpr128 zcz-gpr32 zcz-gpr64",
        implies="""\
CONTEXTIDREL2:
aes:
altnzcv: flagm
am:
amvs: am
bf16:
brbe:
bti:
btie:
ccdp: ccpp
ccidx:
ccpp:
chk:
clrbhb:
cmh:
cmpbr:
complxnum:
cpa:
crc:
crypto: aes sha2
cssc:
d128: lse128
dit:
dotprod:
ecv:
el2vmsa:
el3:
f16f32dot: fullfp16
f16f32mm: fullfp16
f16mm: fullfp16
f32mm: sve
f64mm: sve
f8f16mm: fp8
f8f32mm: fp8
faminmax:
fgt:
flagm:
fmv:
fp16fml: fullfp16
fp8:
fp8dot2: fp8
fp8dot4: fp8
fp8fma: fp8
fpac:
fprcvt:
fptoint:
fullfp16:
gcie:
gcs: chk
hbc:
hcx:
i8mm:
ite:
jsconv:
lor:
ls64:
lscp:
lse:
lse128: lse
lse2:
lsfe:
lsui:
lut:
mec: rme
mops:
mops-go: mops mte
mpam:
mpamv2:
mte:
mtetc: mte
nmi:
nv:
occmo:
pan:
pan-rwv: pan
pauth:
pauth-lr:
pcdphint:
perfmon:
poe2:
pops:
predres:
prfm-slc-target:
rand:
ras:
rasv2: ras
rcpc:
rcpc-immo: rcpc
rcpc3: rcpc-immo
rdm:
rme:
sb:
sel2:
sha2:
sha3: sha2
sm4:
sme: bf16 fullfp16
sme-b16b16: sme2 sve-b16b16
sme-f16f16: sme2
sme-f64f64: sme
sme-f8f16: fp8 sme2
sme-f8f32: fp8 sme2
sme-fa64: sme sve2
sme-i16i64: sme
sme-lutv2: sme2
sme-mop4: sme2
sme-tmop: sme2
sme2: sme
sme2p1: sme2
sme2p2: sme2p1
sme2p3: sme2p2
spe:
spe-eef:
specres2: predres
specrestrict:
ssbs:
ssve-aes: sme2 sve-aes
ssve-bitperm: sme2 sve-bitperm
ssve-fexpa: sme2
ssve-fp8dot2: fp8 sme2
ssve-fp8dot4: fp8 sme2
ssve-fp8fma: fp8 sme2
sve: fullfp16
sve-aes: aes
sve-aes2:
sve-b16b16:
sve-b16mm: sve
sve-bfscale:
sve-bitperm:
sve-f16f32mm: sve
sve-sha3: sha3
sve-sm4: sm4
sve2: sve
sve2-aes: sve-aes sve2
sve2-bitperm: sve-bitperm sve2
sve2-sha3: sve-sha3 sve2
sve2-sm4: sve-sm4 sve2
sve2p1: sve2
sve2p2: sve2p1
sve2p3: sve2p2
tev:
the:
tlb-rmi:
tlbid:
tlbiw:
tracev8.4:
uaops:
v8.1a: crc lor lse pan rdm v8a vh
v8.2a: ccpp pan-rwv ras uaops v8.1a
v8.3a: complxnum jsconv pauth rcpc v8.2a
v8.4a: am dit dotprod flagm lse2 mpam nv rcpc-immo sel2 tlb-rmi tracev8.4 v8.3a
v8.5a: altnzcv bti ccdp fptoint predres sb specrestrict v8.4a
v8.6a: amvs bf16 ecv fgt i8mm v8.5a
v8.7a: hcx v8.6a wfxt xs
v8.8a: hbc mops nmi v8.7a
v8.9a: chk clrbhb cssc prfm-slc-target rasv2 specres2 v8.8a
v8a: el2vmsa el3
v8r: CONTEXTIDREL2 ccpp crc dit flagm lse pan-rwv pauth ras rcpc-immo sel2 specrestrict tlb-rmi tracev8.4 uaops
v9.1a: v8.6a v9a
v9.2a: v8.7a v9.1a
v9.3a: v8.8a v9.2a
v9.4a: v8.9a v9.3a
v9.5a: cpa v9.4a
v9.6a: cmpbr lsui occmo v9.5a
v9.7a: fprcvt sve2p3 v9.6a
v9a: v8.5a
vh: CONTEXTIDREL2
wfxt:
xs:
""",
        cpus="""\
a64fx: aes complxnum perfmon sha2 sve v8.2a
ampere1: aes ccidx fullfp16 perfmon rand sha3 ssbs v8.6a
ampere1a: aes ccidx fullfp16 mte perfmon rand sha3 sm4 ssbs v8.6a
ampere1b: aes ccidx cssc fullfp16 mte perfmon rand sha3 sm4 ssbs v8.7a
ampere1c: ccidx cssc faminmax fp16fml fp8fma lut mte perfmon rand ssbs sve-aes sve-b16b16 sve-sha3 sve-sm4 sve2 v9.2a
apple-a10: aes crc lor pan perfmon rdm sha2 v8a vh
apple-a11: aes fullfp16 perfmon sha2 v8.2a
apple-a12: aes fullfp16 perfmon sha2 v8.3a
apple-a13: aes fp16fml perfmon sha3 v8.4a
apple-a14: aes altnzcv ccdp fp16fml fptoint perfmon predres sb sha3 specrestrict ssbs v8.4a
apple-a15: aes fp16fml fpac perfmon sha3 ssbs v8.6a
apple-a16: aes fp16fml fpac hcx perfmon sha3 ssbs v8.6a
apple-a17: aes fp16fml fpac hcx perfmon sha3 ssbs v8.6a
apple-a18: aes fp16fml fpac perfmon sha3 sme-f64f64 sme-i16i64 sme2 v8.7a
apple-a19: aes cssc fp16fml fpac hbc mte perfmon sha3 sme-b16b16 sme-f16f16 sme-f64f64 sme-i16i64 sme2p1 specres2 v8.7a
apple-a7: aes perfmon sha2 v8a
apple-a8: aes perfmon sha2 v8a
apple-a9: aes perfmon sha2 v8a
apple-m1: aes altnzcv ccdp fp16fml fptoint perfmon predres sb sha3 specrestrict ssbs v8.4a
apple-m2: aes fp16fml fpac perfmon sha3 ssbs v8.6a
apple-m3: aes fp16fml fpac hcx perfmon sha3 ssbs v8.6a
apple-m4: aes fp16fml fpac perfmon sha3 sme-f64f64 sme-i16i64 sme2 v8.7a
apple-m5: aes cssc fp16fml fpac hbc mte perfmon sha3 sme-b16b16 sme-f16f16 sme-f64f64 sme-i16i64 sme2p1 specres2 v8.7a
apple-s10: aes fp16fml fpac hcx perfmon sha3 ssbs v8.6a
apple-s4: aes fullfp16 perfmon sha2 v8.3a
apple-s5: aes fullfp16 perfmon sha2 v8.3a
apple-s6: aes fp16fml perfmon sha3 v8.4a
apple-s7: aes fp16fml perfmon sha3 v8.4a
apple-s8: aes fp16fml perfmon sha3 v8.4a
apple-s9: aes fp16fml fpac hcx perfmon sha3 ssbs v8.6a
c1-nano: ccidx chk clrbhb fp16fml fpac mte perfmon rcpc3 sme2 specres2 ssbs sve-bitperm sve2 v9.3a
c1-premium: ccidx chk clrbhb fp16fml fpac mte perfmon rcpc3 sme2 spe spe-eef specres2 ssbs sve-bitperm sve2 v9.3a
c1-pro: ccidx chk clrbhb fp16fml fpac mte perfmon rcpc3 sme2 spe spe-eef specres2 ssbs sve-bitperm sve2 v9.3a
c1-ultra: ccidx chk clrbhb fp16fml fpac mte perfmon rcpc3 sme2 spe spe-eef specres2 ssbs sve-bitperm sve2 v9.3a
carmel: aes fullfp16 sha2 v8.2a
cobalt-100: bf16 ccidx fp16fml fpac i8mm mte perfmon ssbs sve-bitperm sve2 v9a
cortex-a320: ccidx fp16fml mte perfmon ssbs sve-bitperm sve2 v9.2a
cortex-a34: aes crc perfmon sha2 v8a
cortex-a35: aes crc perfmon sha2 v8a
cortex-a510: bf16 ccidx fp16fml fpac i8mm mte perfmon ssbs sve-bitperm sve2 v9a
cortex-a520: ccidx fp16fml fpac mte perfmon ssbs sve-bitperm sve2 v9.2a
cortex-a520ae: ccidx fp16fml fpac mte perfmon ssbs sve-bitperm sve2 v9.2a
cortex-a53: aes crc perfmon sha2 v8a
cortex-a55: aes dotprod fullfp16 perfmon rcpc sha2 v8.2a
cortex-a57: aes crc perfmon sha2 v8a
cortex-a65: aes dotprod fullfp16 perfmon rcpc sha2 ssbs v8.2a
cortex-a65ae: aes dotprod fullfp16 perfmon rcpc sha2 ssbs v8.2a
cortex-a710: bf16 ccidx fp16fml fpac i8mm mte perfmon ssbs sve-bitperm sve2 v9a
cortex-a715: bf16 ccidx fp16fml fpac i8mm mte perfmon spe ssbs sve-bitperm sve2 v9a
cortex-a72: aes crc perfmon sha2 v8a
cortex-a720: ccidx fp16fml fpac mte perfmon spe spe-eef ssbs sve-bitperm sve2 v9.2a
cortex-a720ae: ccidx fp16fml fpac mte perfmon spe spe-eef ssbs sve-bitperm sve2 v9.2a
cortex-a725: ccidx fp16fml fpac mte perfmon spe spe-eef ssbs sve-bitperm sve2 v9.2a
cortex-a73: aes crc perfmon sha2 v8a
cortex-a75: aes dotprod fullfp16 perfmon rcpc sha2 v8.2a
cortex-a76: aes dotprod fullfp16 perfmon rcpc sha2 ssbs v8.2a
cortex-a76ae: aes dotprod fullfp16 perfmon rcpc sha2 ssbs v8.2a
cortex-a77: aes dotprod fullfp16 perfmon rcpc sha2 ssbs v8.2a
cortex-a78: aes dotprod fullfp16 perfmon rcpc sha2 spe ssbs v8.2a
cortex-a78ae: aes dotprod fullfp16 perfmon rcpc sha2 spe ssbs v8.2a
cortex-a78c: aes dotprod flagm fullfp16 pauth perfmon rcpc sha2 spe ssbs v8.2a
cortex-r82: ccdp complxnum dotprod fp16fml fpac jsconv perfmon predres rdm sb ssbs v8r
cortex-r82ae: ccdp complxnum dotprod fp16fml fpac jsconv perfmon predres rdm sb ssbs v8r
cortex-x1: aes dotprod fullfp16 perfmon rcpc sha2 spe ssbs v8.2a
cortex-x1c: aes dotprod flagm fullfp16 lse2 pauth perfmon rcpc-immo sha2 spe ssbs v8.2a
cortex-x2: bf16 ccidx fp16fml fpac i8mm mte perfmon ssbs sve-bitperm sve2 v9a
cortex-x3: bf16 ccidx fp16fml fpac i8mm mte perfmon spe ssbs sve-bitperm sve2 v9a
cortex-x4: ccidx fp16fml fpac mte perfmon spe spe-eef ssbs sve-bitperm sve2 v9.2a
cortex-x925: ccidx fp16fml fpac mte perfmon spe spe-eef ssbs sve-bitperm sve2 v9.2a
cyclone: aes perfmon sha2 v8a
exynos-m3: aes crc perfmon sha2 v8a
exynos-m4: aes dotprod fullfp16 perfmon sha2 v8.2a
exynos-m5: aes dotprod fullfp16 perfmon sha2 v8.2a
falkor: aes crc perfmon rdm sha2 v8a
fujitsu-monaka: ccidx clrbhb faminmax fp16fml fp8dot2 fp8dot4 fp8fma fpac ls64 lut mec perfmon rand specres2 ssbs sve-aes sve-bitperm sve-sha3 sve-sm4 sve2 v9.3a
gb10: ccidx fp16fml fpac mte perfmon spe spe-eef ssbs sve-aes sve-bitperm sve-sha3 sve-sm4 sve2 v9.2a
generic:
grace: bf16 ccidx fp16fml fpac i8mm mte perfmon spe ssbs sve-aes sve-bitperm sve-sha3 sve-sm4 sve2 v9a
kryo: aes crc perfmon sha2 v8a
neoverse-512tvb: aes bf16 ccdp ccidx fp16fml fpac i8mm perfmon rand sha3 sm4 spe ssbs sve v8.4a
neoverse-e1: aes dotprod fullfp16 perfmon rcpc sha2 ssbs v8.2a
neoverse-n1: aes dotprod fullfp16 perfmon rcpc sha2 spe ssbs v8.2a
neoverse-n2: bf16 ccidx fp16fml fpac i8mm mte perfmon ssbs sve-bitperm sve2 v9a
neoverse-n3: ccidx fp16fml fpac mte perfmon rand spe spe-eef ssbs sve-bitperm sve2 v9.2a
neoverse-v1: aes bf16 ccdp ccidx fp16fml i8mm perfmon rand sha3 sm4 spe ssbs sve v8.4a
neoverse-v2: bf16 ccidx fp16fml fpac i8mm mte perfmon rand spe ssbs sve-bitperm sve2 v9a
neoverse-v3: brbe ccidx fp16fml fpac ls64 mte perfmon rand rme spe spe-eef ssbs sve-bitperm sve2 v9.2a
neoverse-v3ae: brbe ccidx fp16fml fpac ls64 mte perfmon rand rme spe spe-eef ssbs sve-bitperm sve2 v9.2a
olympus: brbe ccidx chk faminmax fp16fml fp8dot2 fp8dot4 fp8fma fpac ls64 lut mec mte perfmon rand spe spe-eef ssbs sve-aes sve-bitperm sve-sha3 sve-sm4 sve2 v9.2a
oryon-1: aes ccidx fp16fml perfmon rand sha3 sm4 spe ssbs v8.6a
saphira: aes ccidx perfmon sha2 spe v8.4a
thunderx: aes crc perfmon sha2 v8a
thunderx2t99: aes sha2 v8.1a
thunderx3t110: aes ccidx perfmon sha2 v8.3a
thunderxt81: aes crc perfmon sha2 v8a
thunderxt83: aes crc perfmon sha2 v8a
thunderxt88: aes crc perfmon sha2 v8a
tsv110: aes complxnum dotprod fp16fml jsconv perfmon sha2 spe v8.2a
""",
    ),
    "riscv64": Architecture(
        name="riscv64",
        triple="riscv64-unknown-linux-gnu",
        base="generic-rv64",
        free="32bit 64bit add-load-fusion addi-load-fusion andes45 auipc-addi-fusion auipc-load-fusion bfext-fusion conditional-cmv-fusion disable-latency-sched-heuristic disable-misched-load-clustering disable-misched-store-clustering disable-postmisched-load-clustering disable-postmisched-store-clustering dlen-factor-2 enable-vsetvli-sched-heuristic exact-asm experimental experimental-rvm23u32 forced-atomics i ld-add-fusion log-vrgather lui-addi-fusion lui-load-fusion mips-p8700 no-default-unroll no-sink-splat-operands no-trailing-seq-cst-fence optimized-nf2-segment-load-store optimized-nf3-segment-load-store optimized-nf4-segment-load-store optimized-nf5-segment-load-store optimized-nf6-segment-load-store optimized-nf7-segment-load-store optimized-nf8-segment-load-store optimized-zero-stride-load permissive-zalrsc predictable-select-expensive prefer-vsetvli-over-read-vlenb prefer-w-inst relax reserve-x1 reserve-x10 reserve-x11 reserve-x12 reserve-x13 reserve-x14 reserve-x15 reserve-x16 reserve-x17 reserve-x18 reserve-x19 reserve-x2 reserve-x20 reserve-x21 reserve-x22 reserve-x23 reserve-x24 reserve-x25 reserve-x26 reserve-x27 reserve-x28 reserve-x29 reserve-x3 reserve-x30 reserve-x31 reserve-x4 reserve-x5 reserve-x6 reserve-x7 reserve-x8 reserve-x9 rva20s64 rva20u64 rva22s64 rva22u64 rva23s64 rva23u64 rvb23s64 rvb23u64 rvi20u32 rvi20u64 save-restore shifted-zextw-fusion short-forward-branch-ialu short-forward-branch-iload short-forward-branch-iminmax short-forward-branch-imul shxadd-load-fusion sifive7 single-element-vec-fp64 tagged-globals unaligned-scalar-mem unaligned-vector-mem use-postra-scheduler ventana-veyron vl-dependent-latency vxrm-pipeline-flush xqccmp zce zcmp zcmt zdinx zexth-fusion zextw-fusion zfinx zhinx zhinxmin zilsd-4byte-align",
        implies="""\
a: zaamo zalrsc
b: zba zbb zbs
c: zca
d: f
e:
experimental-p:
experimental-smpmpmt:
experimental-svukte:
experimental-xrivosvisni:
experimental-xrivosvizip:
experimental-xsfmclic:
experimental-xsfsclic:
experimental-zibi:
experimental-zicfilp: zicsr
experimental-zicfiss: zicsr zimop
experimental-zvbc32e: zve32x
experimental-zvfbfa: zfbfmin zve32f
experimental-zvfofp8min: zve32f
experimental-zvkgs: zvkg
experimental-zvqdotq: zve32x
f: zicsr
h:
m: zmmul
q: d
sdext:
sdtrig:
sha: h shcounterenw shgatpa shtvala shvsatpa shvstvala shvstvecd ssstateen
shcounterenw:
shgatpa:
shlcofideleg:
shtvala:
shvsatpa:
shvstvala:
shvstvecd:
smaia:
smcdeleg:
smcntrpmf:
smcsrind:
smctr: sscsrind
smdbltrp: zicsr
smepmp:
smmpm:
smnpm:
smrnmi:
smstateen:
ssaia:
ssccfg:
ssccptr:
sscofpmf:
sscounterenw:
sscsrind:
ssctr: sscsrind
ssdbltrp: zicsr
ssnpm:
sspm:
ssqosid:
ssstateen:
ssstrict:
sstc:
sstvala:
sstvecd:
ssu64xl:
supm:
svade:
svadu:
svbare:
svinval:
svnapot:
svpbmt:
svvptc:
v: zve64d zvl128b zvl32b zvl64b
xandesbfhcvt: f
xandesperf:
xandesvbfhcvt: zve32f
xandesvdot: zve32x
xandesvpackfph: f
xandesvsinth: zve32x
xandesvsintload: zve32x
xcvalu:
xcvbi:
xcvbitmanip:
xcvelw:
xcvmac:
xcvmem:
xcvsimd:
xmipscbop:
xmipscmov:
xmipsexectl:
xmipslsp:
xsfcease:
xsfmm128t: xsfmmbase
xsfmm16t: xsfmmbase
xsfmm32a16f: xsfmmbase zve32f
xsfmm32a32f: xsfmmbase zve32f
xsfmm32a8f: xsfmmbase zve32f
xsfmm32a8i: xsfmmbase
xsfmm32t: xsfmmbase
xsfmm64a64f: xsfmmbase zve64d
xsfmm64t: xsfmmbase
xsfmmbase: zve32x
xsfvcp: zve32x
xsfvfexp16e: zvfh
xsfvfexp32e: zve32f
xsfvfexpa: zve32f
xsfvfexpa64e: xsfvfexpa zve64d
xsfvfnrclipxfqf: zve32f
xsfvfwmaccqqq: zvfbfmin
xsfvqmaccdod: zve32x
xsfvqmaccqoq: zve32x
xsifivecdiscarddlone:
xsifivecflushdlone:
xsmtvdot: zve32f
xtheadba:
xtheadbb:
xtheadbs:
xtheadcmo:
xtheadcondmov:
xtheadfmemidx:
xtheadmac:
xtheadmemidx:
xtheadmempair:
xtheadsync:
xtheadvdot: v
xventanacondops:
za128rs:
za64rs:
zaamo:
zabha: zaamo
zacas: zaamo
zalasr:
zalrsc:
zama16b:
zawrs:
zba:
zbb:
zbc:
zbkb:
zbkc:
zbkx:
zbs:
zca:
zcb: zca
zcd: d zca
zcmop: zca
zfa: f
zfbfmin: f
zfh: zfhmin
zfhmin: f
zic64b:
zicbom:
zicbop:
zicboz:
ziccamoa:
ziccamoc:
ziccif:
zicclsm:
ziccrse:
zicntr: zicsr
zicond:
zicsr:
zifencei:
zihintntl:
zihintpause:
zihpm: zicsr
zimop:
zk: zkn zkr zkt
zkn: zbkb zbkc zbkx zknd zkne zknh
zknd:
zkne:
zknh:
zkr:
zks: zbkb zbkc zbkx zksed zksh
zksed:
zksh:
zkt:
zmmul:
ztso:
zvbb: zvkb
zvbc: zve64x
zve32f: f zve32x
zve32x: zicsr
zve64d: d zve64f
zve64f: zve32f zve64x
zve64x: zve32x
zvfbfmin: zve32f
zvfbfwma: zfbfmin zvfbfmin
zvfh: zfhmin zvfhmin
zvfhmin: zve32f
zvkb: zve32x
zvkg: zve32x
zvkn: zvkb zvkned zvknhb zvkt
zvknc: zvbc zvkn
zvkned: zve32x
zvkng: zvkg zvkn
zvknha: zve32x
zvknhb: zve64x
zvks: zvkb zvksed zvksh zvkt
zvksc: zvbc zvks
zvksed: zve32x
zvksg: zvkg zvks
zvksh: zve32x
zvkt:
zvl1024b: zvl512b
zvl128b: zve64d v zvl32b zvl64b
zvl16384b: zvl8192b
zvl2048b: zvl1024b
zvl256b: v
zvl32768b: zvl16384b
zvl32b: zve64d v zvl128b zvl64b
zvl4096b: zvl2048b
zvl512b: zvl256b
zvl64b: zve64d v zvl128b zvl32b
zvl65536b: zvl32768b
zvl8192b: zvl4096b
""",
        cpus="""\
andes-ax25: a c d m xandesperf zifencei
andes-ax45: a c d m xandesperf zifencei
andes-ax45mpv: a c m v xandesperf zifencei
andes-nx45: a c d m xandesperf zifencei
generic:
generic-rv64:
mips-p8700: a c d m xmipscbop xmipscmov xmipsexectl xmipslsp zba zbb zifencei
rocket-rv64: zicsr zifencei
sifive-p450: a b c d m za64rs zfhmin zic64b zicbom zicbop zicboz ziccamoa ziccif zicclsm ziccrse zifencei zihintntl zihintpause zihpm zkt
sifive-p470: a b c m v xsifivecdiscarddlone xsifivecflushdlone za64rs zfhmin zic64b zicbom zicbop zicboz ziccamoa ziccif zicclsm ziccrse zifencei zihintntl zihintpause zihpm zkt zvbb zvknc zvkng zvksc zvksg
sifive-p550: a c d m zba zbb zifencei
sifive-p670: a b c m v za64rs zfhmin zic64b zicbom zicbop zicboz ziccamoa ziccif zicclsm ziccrse zifencei zihintntl zihintpause zihpm zkt zvbb zvknc zvkng zvksc zvksg
sifive-p870: a b c m supm v za64rs zama16b zawrs zcb zcmop zfa zfh zic64b zicbom zicbop zicboz ziccamoa ziccif zicclsm ziccrse zicntr zicond zifencei zihintntl zihintpause zihpm zimop zkr zkt zvbb zvfbfwma zvfh zvknc zvkng zvksc zvksg
sifive-s21: a c m zicsr zifencei
sifive-s51: a c m zicsr zifencei
sifive-s54: a c d m zifencei
sifive-s76: a c d m zifencei zihintpause
sifive-u54: a c d m zifencei
sifive-u74: a c d m zifencei
sifive-x280: a c m zba zbb zfh zifencei zvfh zvl512b
sifive-x390: a b c experimental-zicfilp experimental-zicfiss m xsifivecdiscarddlone xsifivecflushdlone za64rs zawrs zcb zcmop zfa zfh zic64b zicbom zicbop zicboz ziccamoa ziccif ziccrse zicntr zicond zifencei zihintntl zihintpause zihpm zkr zkt zvbb zvfbfwma zvfh zvkt zvl1024b
spacemit-x60: a b c m ssccptr sscofpmf sscounterenw sstc sstvala sstvecd svade svbare svinval svnapot svpbmt xsmtvdot za64rs zbc zbkc zfh zic64b zicbom zicbop zicboz ziccamoa ziccif zicclsm ziccrse zicntr zicond zifencei zihintpause zihpm zkt zvfh zvkt zvl256b
syntacore-scr3-rv64: a c m zicsr zifencei
syntacore-scr4-rv64: a c d m zifencei
syntacore-scr5-rv64: a c d m zifencei
syntacore-scr7: a c m v zba zbb zbc zbs zifencei zkn
tt-ascalon-d8: a b c m sha smaia ssaia ssccptr sscofpmf sscounterenw ssnpm ssstrict sstc sstvala sstvecd ssu64xl supm svade svbare svinval svnapot svpbmt za64rs zawrs zcb zcmop zfa zfh zic64b zicbom zicbop zicboz ziccamoa ziccif zicclsm ziccrse zicntr zicond zifencei zihintntl zihintpause zihpm zimop zkt zvbb zvbc zvfbfwma zvfh zvkng zvl256b
veyron-v1: a c d m xventanacondops zba zbb zbc zbs zicbom zicbop zicboz zicntr zifencei zihintpause zihpm
xiangshan-kunminghu: a b c m sha smaia smcsrind smdbltrp smmpm smnpm smrnmi smstateen ssaia ssccptr sscofpmf sscounterenw sscsrind ssdbltrp ssnpm sspm ssstrict sstc sstvala sstvecd ssu64xl supm svade svbare svinval svnapot svpbmt v za64rs zacas zawrs zbc zcb zcmop zfa zfh zic64b zicbom zicbop zicboz ziccamoa ziccif zicclsm ziccrse zicntr zicond zifencei zihintntl zihintpause zihpm zimop zkn zks zkt zvbb zvfh zvkt
xiangshan-nanhu: a c d m svinval zba zbb zbc zbs zicbom zicboz zifencei zkn zksed zksh
""",
    ),
    "arm": Architecture(
        name="arm",
        triple="arm-none-eabi",
        base="generic",
        free="32bit a12 a15 a17 a32 a35 a5 a53 a55 a57 a7 a72 a73 a75 a76 a77 a78c a8 a9 aapcs-frame-chain armv4 armv4t armv5t armv5te armv5tej armv6 armv6-m armv6j armv6k armv6kz armv6s-m armv6t2 armv7-a armv7-m armv7-r armv7e-m armv7k armv7s armv7ve armv8-a armv8-m.base armv8-m.main armv8-r armv8.1-a armv8.1-m.main armv8.2-a armv8.3-a armv8.4-a armv8.5-a armv8.6-a armv8.7-a armv8.8-a armv8.9-a armv9-a armv9.1-a armv9.2-a armv9.3-a armv9.4-a armv9.5-a armv9.6-a armv9.7-a atomics-32 avoid-movs-shop avoid-muls avoid-partial-cpsr big-endian-instructions branch-align-64 cheap-predicable-cpsr cortex-a510 cortex-a710 cortex-a78 cortex-a78ae cortex-x1 cortex-x1c disable-postra-scheduler dont-widen-vmovs execute-only expand-fp-mlx exynos fix-cmse-cve-2021-35465 fix-cortex-a57-aes-1742098 fuse-aes fuse-literals harden-sls-blr harden-sls-nocomdat harden-sls-retbr iwmmxt iwmmxt2 krait kryo long-calls loop-align m3 m55 m7 m85 muxed-units mve1beat mve2beat mve4beat neon-fpmovs neonfp neoverse-v1 no-branch-predictor no-bti-at-return-twice no-movt no-neg-immediates noarm nonpipelined-vfp prefer-ishst prefer-vmovsr prof-unpr r4 r5 r52 r52plus r7 read-tp-tpidrprw read-tp-tpidruro read-tp-tpidrurw reserve-r9 ret-addr-stack slow-fp-brcc slow-load-D-subreg slow-odd-reg slow-vdup32 slow-vgetlni32 slowfpvfmx slowfpvmlx soft-float splat-vfp-neon strict-align swift thumb-mode thumb2 use-mipipeliner use-misched vldn-align vmlx-forwarding vmlx-hazards wide-stride-vfp xscale zcz",
        implies="""\
8msecext:
aclass:
acquire-release:
aes: neon
bf16: neon
cde: v8m.main
cdecp0: cde
cdecp1: cde
cdecp2: cde
cdecp3: cde
cdecp4: cde
cdecp5: cde
cdecp6: cde
cdecp7: cde
clrbhb:
crc:
crypto: aes sha2
d32:
db:
dfb:
dotprod: neon
dsp:
fp-armv8: fp-armv8d16 fp-armv8sp vfp4
fp-armv8d16: fp-armv8d16sp vfp4d16
fp-armv8d16sp: vfp4d16sp
fp-armv8sp: fp-armv8d16sp vfp4sp
fp16:
fp16fml: fullfp16
fp64: fpregs64
fpao:
fpregs:
fpregs16: fpregs
fpregs64: fpregs
fullfp16: fp-armv8d16sp fpregs16
hwdiv:
hwdiv-arm:
i8mm: neon
lob:
mclass:
mp:
mve: dsp fpregs16 fpregs64 v8.1m.main
mve.fp: fullfp16 mve
neon: vfp3
pacbti:
perfmon:
ras:
rclass:
sb:
sha2: neon
trustzone:
v4t:
v5t: v4t
v5te: v5t
v6: v5te
v6k: v6
v6m: v6
v6t2: v6k v8m
v7: v6t2 v7clrex
v7clrex:
v8: acquire-release perfmon v7
v8.1a: v8
v8.1m.main: v8m.main
v8.2a: v8.1a
v8.3a: v8.2a
v8.4a: dotprod v8.3a
v8.5a: sb v8.4a
v8.6a: bf16 i8mm v8.5a
v8.7a: v8.6a
v8.8a: v8.7a
v8.9a: clrbhb v8.8a
v8m: v6m
v8m.main: v7
v9.1a: v8.6a v9a
v9.2a: v8.7a v9.1a
v9.3a: v8.8a v9.2a
v9.4a: v8.9a v9.3a
v9.5a: v9.4a
v9.6a: v9.5a
v9.7a: v9.6a
v9a: v8.5a
vfp2: fp64 vfp2sp
vfp2sp: fpregs
vfp3: vfp3d16 vfp3sp
vfp3d16: vfp2 vfp3d16sp
vfp3d16sp: vfp2sp
vfp3sp: d32 vfp3d16sp
vfp4: vfp3 vfp4d16 vfp4sp
vfp4d16: vfp3d16 vfp4d16sp
vfp4d16sp: fp16 vfp3d16sp
vfp4sp: vfp3sp vfp4d16sp
virtualization: hwdiv hwdiv-arm
""",
        cpus="""\
arm1020e: v5te
arm1020t: v5t
arm1022e: v5te
arm10e: v5te
arm10tdmi: v5t
arm1136j-s: dsp v6
arm1136jf-s: dsp v6 vfp2
arm1156t2-s: dsp v6t2
arm1156t2f-s: dsp v6t2 vfp2
arm1176jz-s: trustzone v6k
arm1176jzf-s: trustzone v6k vfp2
arm710t: v4t
arm720t: v4t
arm7tdmi: v4t
arm7tdmi-s: v4t
arm8:
arm810:
arm9: v4t
arm920: v4t
arm920t: v4t
arm922t: v4t
arm926ej-s: v5te
arm940t: v4t
arm946e-s: v5te
arm966e-s: v5te
arm968e-s: v5te
arm9e: v5te
arm9tdmi: v4t
cortex-a12: aclass db dsp mp neon perfmon trustzone v7 vfp4 virtualization
cortex-a15: aclass db dsp mp neon perfmon trustzone v7 vfp4 virtualization
cortex-a17: aclass db dsp mp neon perfmon trustzone v7 vfp4 virtualization
cortex-a32: aclass crc crypto db dsp fp-armv8 mp trustzone v8 virtualization
cortex-a35: aclass crc crypto db dsp fp-armv8 mp trustzone v8 virtualization
cortex-a5: aclass db dsp mp neon perfmon trustzone v7 vfp4
cortex-a510: aclass bf16 crc db dsp fp-armv8 fp16fml i8mm mp ras trustzone v9a virtualization
cortex-a53: aclass crc crypto db dsp fp-armv8 fpao mp trustzone v8 virtualization
cortex-a55: aclass crc crypto db dotprod dsp fp-armv8 mp ras trustzone v8.2a virtualization
cortex-a57: aclass crc crypto db dsp fp-armv8 fpao mp trustzone v8 virtualization
cortex-a7: aclass db dsp mp neon perfmon trustzone v7 vfp4 virtualization
cortex-a710: aclass bf16 crc db dsp fp-armv8 fp16fml i8mm mp ras trustzone v9a virtualization
cortex-a72: aclass crc crypto db dsp fp-armv8 mp trustzone v8 virtualization
cortex-a73: aclass crc crypto db dsp fp-armv8 mp trustzone v8 virtualization
cortex-a75: aclass crc crypto db dotprod dsp fp-armv8 mp ras trustzone v8.2a virtualization
cortex-a76: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
cortex-a76ae: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
cortex-a77: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
cortex-a78: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
cortex-a78ae: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
cortex-a78c: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
cortex-a8: aclass db dsp neon perfmon trustzone v7
cortex-a9: aclass db dsp fp16 mp neon perfmon trustzone v7
cortex-m0: db mclass v6m
cortex-m0plus: db mclass v6m
cortex-m1: db mclass v6m
cortex-m23: 8msecext acquire-release db hwdiv mclass v7clrex v8m
cortex-m3: db hwdiv mclass v7
cortex-m33: 8msecext acquire-release db dsp fp-armv8d16sp hwdiv mclass v8m.main
cortex-m35p: 8msecext acquire-release db dsp fp-armv8d16sp hwdiv mclass v8m.main
cortex-m4: db dsp hwdiv mclass v7 vfp4d16sp
cortex-m52: 8msecext acquire-release db fp-armv8d16 hwdiv lob mclass mve.fp pacbti ras
cortex-m55: 8msecext acquire-release db fp-armv8d16 hwdiv lob mclass mve.fp ras
cortex-m7: db dsp fp-armv8d16 hwdiv mclass v7
cortex-m85: 8msecext acquire-release db fp-armv8d16 hwdiv lob mclass mve.fp pacbti ras
cortex-r4: db dsp hwdiv perfmon rclass v7
cortex-r4f: db dsp hwdiv perfmon rclass v7 vfp3d16
cortex-r5: db dsp hwdiv hwdiv-arm perfmon rclass v7 vfp3d16
cortex-r52: crc db dfb dsp fp-armv8 fpao mp neon rclass v8 virtualization
cortex-r52plus: crc db dfb dsp fp-armv8 fpao mp neon rclass v8 virtualization
cortex-r7: db dsp fp16 hwdiv hwdiv-arm mp perfmon rclass v7 vfp3d16
cortex-r8: db dsp fp16 hwdiv hwdiv-arm mp perfmon rclass v7 vfp3d16
cortex-x1: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
cortex-x1c: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
cyclone: aclass crc crypto db dsp fp-armv8 mp trustzone v8 virtualization
ep9312: v4t
exynos-m3: aclass crc crypto db dsp fp-armv8 mp trustzone v8 virtualization
exynos-m4: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
exynos-m5: aclass crc crypto db dotprod dsp fp-armv8 fullfp16 mp ras trustzone v8.2a virtualization
generic:
iwmmxt: v5te
krait: aclass db dsp hwdiv hwdiv-arm neon perfmon v7 vfp4
kryo: aclass crc crypto db dsp fp-armv8 mp trustzone v8 virtualization
mpcore: v6k vfp2
mpcorenovfp: v6k
neoverse-n1: aclass crc crypto db dotprod dsp fp-armv8 mp ras trustzone v8.2a virtualization
neoverse-n2: aclass bf16 crc db dsp fp-armv8 fp16fml i8mm mp ras trustzone v9a virtualization
neoverse-v1: aclass bf16 crc crypto db dsp fp-armv8 fullfp16 i8mm mp ras trustzone v8.4a virtualization
sc000: db mclass v6m
sc300: db hwdiv mclass v7
star-mc1: 8msecext acquire-release db dsp fp-armv8d16sp hwdiv mclass v8m.main
star-mc3: 8msecext acquire-release db fp-armv8d16 hwdiv lob mclass mve.fp pacbti ras
strongarm:
strongarm110:
strongarm1100:
strongarm1110:
swift: aclass db dsp hwdiv hwdiv-arm mp neon perfmon v7 vfp4
xscale: v5te
""",
    ),
    "riscv32": Architecture(
        name="riscv32",
        triple="riscv32-unknown-elf",
        base="generic-rv32",
        free="32bit 64bit add-load-fusion addi-load-fusion andes45 auipc-addi-fusion auipc-load-fusion bfext-fusion conditional-cmv-fusion disable-latency-sched-heuristic disable-misched-load-clustering disable-misched-store-clustering disable-postmisched-load-clustering disable-postmisched-store-clustering dlen-factor-2 enable-vsetvli-sched-heuristic exact-asm experimental experimental-rvm23u32 forced-atomics i ld-add-fusion log-vrgather lui-addi-fusion lui-load-fusion mips-p8700 no-default-unroll no-sink-splat-operands no-trailing-seq-cst-fence optimized-nf2-segment-load-store optimized-nf3-segment-load-store optimized-nf4-segment-load-store optimized-nf5-segment-load-store optimized-nf6-segment-load-store optimized-nf7-segment-load-store optimized-nf8-segment-load-store optimized-zero-stride-load permissive-zalrsc predictable-select-expensive prefer-vsetvli-over-read-vlenb prefer-w-inst relax reserve-x1 reserve-x10 reserve-x11 reserve-x12 reserve-x13 reserve-x14 reserve-x15 reserve-x16 reserve-x17 reserve-x18 reserve-x19 reserve-x2 reserve-x20 reserve-x21 reserve-x22 reserve-x23 reserve-x24 reserve-x25 reserve-x26 reserve-x27 reserve-x28 reserve-x29 reserve-x3 reserve-x30 reserve-x31 reserve-x4 reserve-x5 reserve-x6 reserve-x7 reserve-x8 reserve-x9 rva20s64 rva20u64 rva22s64 rva22u64 rva23s64 rva23u64 rvb23s64 rvb23u64 rvi20u32 rvi20u64 save-restore shifted-zextw-fusion short-forward-branch-ialu short-forward-branch-iload short-forward-branch-iminmax short-forward-branch-imul shxadd-load-fusion sifive7 single-element-vec-fp64 tagged-globals unaligned-scalar-mem unaligned-vector-mem use-postra-scheduler ventana-veyron vl-dependent-latency vxrm-pipeline-flush xqccmp zce zcmp zcmt zdinx zexth-fusion zextw-fusion zfinx zhinx zhinxmin zilsd-4byte-align",
        implies="""\
a: zaamo zalrsc
b: zba zbb zbs
c: zca
d: f
e:
experimental-p:
experimental-smpmpmt:
experimental-svukte:
experimental-xrivosvisni:
experimental-xrivosvizip:
experimental-xsfmclic:
experimental-xsfsclic:
experimental-zibi:
experimental-zicfilp: zicsr
experimental-zicfiss: zicsr zimop
experimental-zvbc32e: zve32x
experimental-zvfbfa: zfbfmin zve32f
experimental-zvfofp8min: zve32f
experimental-zvkgs: zvkg
experimental-zvqdotq: zve32x
f: zicsr
h:
m: zmmul
q: d
sdext:
sdtrig:
sha: h shcounterenw shgatpa shtvala shvsatpa shvstvala shvstvecd ssstateen
shcounterenw:
shgatpa:
shlcofideleg:
shtvala:
shvsatpa:
shvstvala:
shvstvecd:
smaia:
smcdeleg:
smcntrpmf:
smcsrind:
smctr: sscsrind
smdbltrp: zicsr
smepmp:
smmpm:
smnpm:
smrnmi:
smstateen:
ssaia:
ssccfg:
ssccptr:
sscofpmf:
sscounterenw:
sscsrind:
ssctr: sscsrind
ssdbltrp: zicsr
ssnpm:
sspm:
ssqosid:
ssstateen:
ssstrict:
sstc:
sstvala:
sstvecd:
ssu64xl:
supm:
svade:
svadu:
svbare:
svinval:
svnapot:
svpbmt:
svvptc:
v: zve64d zvl128b zvl32b zvl64b
xandesbfhcvt: f
xandesperf:
xandesvbfhcvt: zve32f
xandesvdot: zve32x
xandesvpackfph: f
xandesvsinth: zve32x
xandesvsintload: zve32x
xcvalu:
xcvbi:
xcvbitmanip:
xcvelw:
xcvmac:
xcvmem:
xcvsimd:
xmipscbop:
xmipscmov:
xmipsexectl:
xmipslsp:
xqci: xqcia xqciac xqcibi xqcibm xqcicli xqcicm xqcics xqcicsr xqciint xqciio xqcilb xqcili xqcilia xqcilo xqcilsm xqcisim xqcisls xqcisync
xqcia:
xqciac: zca
xqcibi: zca
xqcibm: zca
xqcicli:
xqcicm: zca
xqcics:
xqcicsr:
xqciint: zca
xqciio:
xqcilb: zca
xqcili: zca
xqcilia: zca
xqcilo: zca
xqcilsm:
xqcisim: zca
xqcisls:
xqcisync: zca
xsfcease:
xsfmm128t: xsfmmbase
xsfmm16t: xsfmmbase
xsfmm32a16f: xsfmmbase zve32f
xsfmm32a32f: xsfmmbase zve32f
xsfmm32a8f: xsfmmbase zve32f
xsfmm32a8i: xsfmmbase
xsfmm32t: xsfmmbase
xsfmm64a64f: xsfmmbase zve64d
xsfmm64t: xsfmmbase
xsfmmbase: zve32x
xsfvcp: zve32x
xsfvfexp16e: zvfh
xsfvfexp32e: zve32f
xsfvfexpa: zve32f
xsfvfexpa64e: xsfvfexpa zve64d
xsfvfnrclipxfqf: zve32f
xsfvfwmaccqqq: zvfbfmin
xsfvqmaccdod: zve32x
xsfvqmaccqoq: zve32x
xsifivecdiscarddlone:
xsifivecflushdlone:
xsmtvdot: zve32f
xtheadba:
xtheadbb:
xtheadbs:
xtheadcmo:
xtheadcondmov:
xtheadfmemidx:
xtheadmac:
xtheadmemidx:
xtheadmempair:
xtheadsync:
xtheadvdot: v
xventanacondops:
xwchc: zca
za128rs:
za64rs:
zaamo:
zabha: zaamo
zacas: zaamo
zalasr:
zalrsc:
zama16b:
zawrs:
zba:
zbb:
zbc:
zbkb:
zbkc:
zbkx:
zbs:
zca:
zcb: zca
zcd: d zca
zcf: f zca
zclsd: zca zilsd
zcmop: zca
zfa: f
zfbfmin: f
zfh: zfhmin
zfhmin: f
zic64b:
zicbom:
zicbop:
zicboz:
ziccamoa:
ziccamoc:
ziccif:
zicclsm:
ziccrse:
zicntr: zicsr
zicond:
zicsr:
zifencei:
zihintntl:
zihintpause:
zihpm: zicsr
zilsd:
zimop:
zk: zkn zkr zkt
zkn: zbkb zbkc zbkx zknd zkne zknh
zknd:
zkne:
zknh:
zkr:
zks: zbkb zbkc zbkx zksed zksh
zksed:
zksh:
zkt:
zmmul:
ztso:
zvbb: zvkb
zvbc: zve64x
zve32f: f zve32x
zve32x: zicsr
zve64d: d zve64f
zve64f: zve32f zve64x
zve64x: zve32x
zvfbfmin: zve32f
zvfbfwma: zfbfmin zvfbfmin
zvfh: zfhmin zvfhmin
zvfhmin: zve32f
zvkb: zve32x
zvkg: zve32x
zvkn: zvkb zvkned zvknhb zvkt
zvknc: zvbc zvkn
zvkned: zve32x
zvkng: zvkg zvkn
zvknha: zve32x
zvknhb: zve64x
zvks: zvkb zvksed zvksh zvkt
zvksc: zvbc zvks
zvksed: zve32x
zvksg: zvkg zvks
zvksh: zve32x
zvkt:
zvl1024b: zvl512b
zvl128b: zve64d v zvl32b zvl64b
zvl16384b: zvl8192b
zvl2048b: zvl1024b
zvl256b: v
zvl32768b: zvl16384b
zvl32b: zve64d v zvl128b zvl64b
zvl4096b: zvl2048b
zvl512b: zvl256b
zvl64b: zve64d v zvl128b zvl32b
zvl65536b: zvl32768b
zvl8192b: zvl4096b
""",
        cpus="""\
andes-a25: a c d m xandesperf zifencei
andes-a45: a c d m xandesperf zifencei
andes-n45: a c d m xandesperf zifencei
generic:
generic-rv32:
rocket-rv32: zicsr zifencei
rp2350-hazard3: a c m zba zbb zbkb zbs zcb zicsr zifencei
sifive-e20: c m zicsr zifencei
sifive-e21: a c m zicsr zifencei
sifive-e24: a c f m zifencei
sifive-e31: a c m zicsr zifencei
sifive-e34: a c f m zifencei
sifive-e76: a c f m zifencei
syntacore-scr1-base: c zicsr zifencei
syntacore-scr1-max: c m zicsr zifencei
syntacore-scr3-rv32: c m zicsr zifencei
syntacore-scr4-rv32: c d m zifencei
syntacore-scr5-rv32: a c d m zifencei
""",
    ),
}
