; Kernels re-made with other hints: a compile each time unless cached.
((call
  function: [(identifier) @_name (attribute attribute: (identifier) @_name)]) @hints
  (#any-of? @_name "replace_hints" "cached_replace_hints"))
