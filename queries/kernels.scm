; Functions that may be kernels: anything decorated, and calls that may wrap one.
; Which of them are cuTile's is decided by name resolution, not here.
(decorated_definition
  definition: (function_definition)) @kernel

((call
  function: [(identifier) @_name (attribute attribute: (identifier) @_name)]) @kernel
  (#any-of? @_name "kernel" "experimental_kernel"))
