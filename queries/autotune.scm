; Searches over a space of configurations.
((call
  function: [(identifier) @_name (attribute attribute: (identifier) @_name)]) @search
  (#any-of? @_name "exhaustive_search" "autotune_launch"))
