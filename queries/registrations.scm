; `@register_impl("op", backend="cutile")` and the curried call.
((call
  function: [(identifier) @_name (attribute attribute: (identifier) @_name)]) @registration
  (#any-of? @_name "register_impl"))
