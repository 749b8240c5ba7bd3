; Calls that may launch a kernel: `ct.launch(...)`, JAX's `cutile_call(...)`.
((call
  function: [(identifier) @_name (attribute attribute: (identifier) @_name)]) @launch
  (#any-of? @_name "launch" "cutile_call"))
