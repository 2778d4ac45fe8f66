// RUN: %diagnose

// expected-error @+1 {{expected 'lanes' to be from 1 to 64, but got 0; the nearest is 1}}
target.device @cpu {targets = [#woofles.target<lanes = 0>]}

// -----

// expected-error @+1 {{unknown key 'lane' of '#woofles.target'; did you mean 'lanes'?}}
target.device @cpu {targets = [#woofles.target<lane = 8>]}

// -----

// expected-error @+1 {{expected an integer for 'lanes' of '#woofles.target', but got '"8"'}}
target.device @cpu {targets = [#woofles.target<lanes = "8">]}
