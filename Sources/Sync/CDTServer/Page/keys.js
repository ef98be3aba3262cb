// Keys that work in every view: a slash goes to the filter.

document.addEventListener('keydown', event => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest('input, textarea, select, [contenteditable], dialog')) return
  const field = document.querySelector('main [data-search]') ?? document.querySelector('#rail input:not([hidden])')
  if (!field) return
  event.preventDefault()
  field.focus()
  field.select()
})
