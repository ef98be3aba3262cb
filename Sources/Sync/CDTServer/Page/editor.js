// A field for JSON: completion of names and operators, and an error at its place.
import {button, el, fill, say, visible} from './dom.js'
import {failureText} from './api.js'
import {Fault, parse, pretty} from './json.js'
import {corrected} from './relaxed.js'

let number = 0

/**
 * @param names Returns what a name in quotes that begins so can be completed to.
 * @returns element, value, clear(), fail(error), offer(), format()
 */
export function editor({label, value = '', rows = 6, names = null, id = `editor-${++number}`}) {
  const behind = el('pre', {class: 'behind', 'aria-hidden': 'true'})
  const problem = el('p', {class: 'problem', id: `${id}-problem`, role: 'alert'})
  const list = el('ul', {class: 'completions', role: 'listbox', id: `${id}-list`, 'aria-label': 'Completions', hidden: true})
  const area = el('textarea', {
    id, rows, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', 'aria-describedby': `${id}-problem`,
  })
  area.value = value
  const field = {
    get value() { return area.value },
    set value(text) {
      area.value = text
      field.clear()
      size()
    },
    area,
    clear() {
      fill(problem)
      fill(behind)
      area.removeAttribute('aria-invalid')
    },
    /** Shows an error, or each failure of a rule in a line, with its place if that is known, and the `remedy` that an error has. */
    fail(error) {
      say('')
      const problems = error.failures?.length ? error.failures : [error]
      const places = placesOf(problems, area.value)
      area.setAttribute('aria-invalid', 'true')
      fill(problem, problems.map((problem, number) => {
        const row = places[number] && area.value.slice(0, places[number].start).split('\n').length
        return `${number ? '\n' : ''}${row ? `Line ${row}: ` : ''}${visible(problem.path ? failureText(problem) : problem.message, 1_000)}`
      }), error.remedy && [' ', error.remedy])
      const meant = error instanceof Fault && corrected(area.value)
      if (meant) {
        const before = area.value.trim().split('\n')
        const changed = meant.split('\n').filter((line, at) => line !== before[at]).map(line => line.trim()).join(' ')
        fill(problem, problem.textContent, `; did you mean ${visible(changed, 300)}? `, button('Use it', () => {
          field.value = meant
          area.focus()
          area.dispatchEvent(new Event('input'))
        }))
      }
      const place = places.find(Boolean)
      if (!place) return
      const before = area.value.slice(0, place.start)
      const end = Math.max(place.end, place.start + 1)
      fill(behind, before, el('mark', {}, area.value.slice(place.start, end) || ' '), area.value.slice(end) + '\n')
      area.focus()
      area.setSelectionRange(place.start, place.start)
      follow()
    },
  }
  field.format = () => {
    try {
      const formatted = pretty(parse(area.value))
      if (formatted !== area.value) area.setRangeText(formatted, 0, area.value.length)
      field.clear()
      size()
    } catch (error) {
      field.fail(error)
    }
  }
  const size = () => { area.rows = Math.max(rows, Math.min(24, area.value.split('\n').length)) }
  size()
  const follow = () => { [behind.scrollTop, behind.scrollLeft] = [area.scrollTop, area.scrollLeft] }
  area.addEventListener('scroll', follow)
  area.addEventListener('input', () => {
    field.clear()
    size()
  })
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) area.form?.requestSubmit()
  })
  // Offers completions again, when more names are known.
  field.offer = names ? complete(area, list, names) : () => {}
  field.element = el('div', {class: 'editor'}, el('label', {for: id}, label),
    el('div', {class: 'stack'}, behind, area), list, problem)
  return field
}

/** The ranges of errors: that of a fault, of the failure of a rule, or of the path with which a refusal of the server begins. */
function placesOf(errors, text) {
  const places = []
  try {
    parse(text, (path, start, end) => places.push({path: path.join('.'), start, end}))
  } catch {
    return errors.map(error => error instanceof Fault ? error : null)
  }
  return errors.map(error => {
    if (error instanceof Fault) return error
    // The longest path that the message begins with: "age.$gtt: unknown operator".
    const message = error.path ? pathInDocument(error) + ':' : error.message.replace(/\[(\d+)\]/g, '.$1')
    const begins = path => [path, path.replace(/^selector\./, '')].some(path =>
      path && message.startsWith(path) && /^[.:\s]/.test(message.slice(path.length)))
    return places.filter(({path}) => begins(path)).sort((a, b) => b.path.length - a.path.length)[0] ?? null
  })
}

/** The path of a failure without the name that rules have for the document. */
function pathInDocument({path}) { return path[0] === 'newDoc' ? path.slice(1).join('.') : '' }

// MARK: Completion

function complete(area, list, names) {
  let [start, chosen, options] = [0, -1, []]
  area.setAttribute('role', 'combobox')
  area.setAttribute('aria-autocomplete', 'list')
  area.setAttribute('aria-controls', list.id)
  area.setAttribute('aria-haspopup', 'listbox')
  const close = () => {
    list.hidden = true
    options = []
    area.setAttribute('aria-expanded', 'false')
    area.removeAttribute('aria-activedescendant')
  }
  const mark = position => {
    chosen = (position + options.length) % options.length
    for (const [at, item] of [...list.children].entries()) item.setAttribute('aria-selected', at === chosen)
    area.setAttribute('aria-activedescendant', `${list.id}-${chosen}`)
    list.children[chosen].scrollIntoView({block: 'nearest'})
  }
  const take = position => {
    const after = area.value[area.selectionStart] === '"' ? 1 : 0
    area.setRangeText(JSON.stringify(options[position]).slice(1, -1) + '"', start, area.selectionStart + after, 'end')
    close()
    area.dispatchEvent(new Event('input'))
    close()
  }
  const offer = () => {
    const before = area.value.slice(0, area.selectionStart)
    // A string that is not ended: the quotes before it are in pairs.
    const quote = before.lastIndexOf('"')
    const isOpen = quote >= 0 && (before.match(/(?<!\\)"/g)?.length ?? 0) % 2 === 1
    const begun = isOpen ? before.slice(quote + 1) : ''
    options = isOpen && !/[\n:]/.test(begun) ? names(begun).filter(name => name !== begun).slice(0, 50) : []
    if (!options.length) return close()
    start = quote + 1
    fill(list, options.map((name, at) => el('li', {
      role: 'option', id: `${list.id}-${at}`, onmousedown: event => {
        event.preventDefault()
        take(at)
      },
    }, visible(name, 80))))
    list.hidden = false
    area.setAttribute('aria-expanded', 'true')
    mark(0)
  }
  close()
  area.addEventListener('input', offer)
  area.addEventListener('blur', close)
  area.addEventListener('keydown', event => {
    if (list.hidden) return
    const actions = {
      ArrowDown: () => mark(chosen + 1), ArrowUp: () => mark(chosen - 1), Enter: () => take(chosen), Tab: () => take(chosen), Escape: close,
    }
    if (event.ctrlKey || event.metaKey) return close()
    if (!actions[event.key] || event.shiftKey) return
    event.preventDefault()
    actions[event.key]()
  })
  return () => { if (document.activeElement === area) offer() }
}
