// The form of a query: a filter on one line, what else it asks for, and what may be wrong with its names.
import {button, el, fill, labeled, sends, visible} from './dom.js'
import {editor} from './editor.js'
import {parse} from './json.js'
import {fieldsOf, isKnown, nearest} from './names.js'
import {maximumResults, requestOf, termsOf, usualLimit} from './request.js'

const collations = {'': 'by their bytes', nocase: 'regardless of case', unicode: 'by letters, regardless of accents'}

/**
 * @param values The texts that the form begins with, as the address has them.
 * @param names The fields and operators, as `namesOf` gives them.
 * @param menus The menus beside the filter.
 * @param run Called when the form is sent, and when a proposed name is taken.
 * @returns element, hint, editor, values, setSort(text), request(skip), showMeaning(text), unknownFields(wanted), showHint(wanted, hints)
 */
export function filterForm({values, names, run, menus}) {
  const field = editor({
    label: 'Filter', value: values.filter, rows: 1,
    names: (begun, before) => completions(names, begun, before), words: (begun, before) => words(names, begun, before),
  })
  field.area.placeholder = 'total > 890 and state = "paid", or a selector in JSON'
  field.area.dataset.search = ''
  field.element.querySelector('label').classList.add('hidden')
  const input = (value, placeholder) => el('input', {value, placeholder, spellcheck: 'false', autocomplete: 'off'})
  const [sort, fields] = [input(values.sort, 'age:desc, name'), input(values.fields, 'all')]
  const limit = el('input', {type: 'number', min: '1', max: `${maximumResults}`, value: values.limit})
  const collation = el('select', {}, Object.entries(collations).map(([value, title]) => el('option', {value, selected: value === values.collation}, title)))
  const meaning = el('code', {class: 'soft', id: 'meaning'})
  const hint = el('p', {class: 'notice', role: 'alert', hidden: true})
  const options = el('details', {class: 'options'}, el('summary', {}, 'Options'),
    el('div', {class: 'row'}, labeled('Sort', sort), labeled('Fields', fields), labeled('Limit', limit), labeled('Compare strings', collation),
      button('Format', () => field.format())))
  options.open = Boolean(values.sort || values.fields || values.collation || values.limit !== `${usualLimit}`)
  // Enter runs the query; Shift with Enter begins a line.
  field.area.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || event.shiftKey || field.area.hasAttribute('aria-activedescendant')) return
    event.preventDefault()
    event.stopImmediatePropagation()
    field.area.form.requestSubmit()
  }, true)
  const submit = el('button', {title: 'Enter'}, 'Run')
  const self = {
    editor: field, hint,
    element: el('form', {
      class: 'filter', onsubmit: sends(submit, run),
    }, el('div', {class: 'ask'}, field.element, submit, menus, el('div', {class: 'under'}, options, meaning))),
    get values() { return {filter: field.value, sort: sort.value, fields: fields.value, limit: limit.value, collation: collation.value} },
    set values(values) {
      field.value = values.filter ?? ''
      for (const [name, input] of Object.entries({sort, fields, collation})) input.value = values[name] ?? ''
      if (values.sort || values.fields || values.collation) options.open = true
    },
    setSort(value) { sort.value = value },
    /** The request of the form. What is wrong with the filter is shown at its place; other errors are thrown. */
    request(skip = 0) {
      field.clear()
      try {
        return requestOf({...self.values, skip}, names.fields)
      } catch (error) {
        if (error.start === undefined) throw error
        field.fail(error)
        throw new DOMException('', 'AbortError')
      }
    },
    /** Says what was understood, if it was not written as JSON. */
    showMeaning(text) {
      let isJSON = false
      try { isJSON = !field.value.trim() || Boolean(parse(field.value)) } catch {}
      meaning.textContent = isJSON ? '' : visible(text, 1_000)
    },
    /** The fields of a request that no document has, as far as the fields are known. */
    unknownFields(wanted) {
      const all = fieldsOf(wanted?.get('selector')).filter(({name}) => !isKnown(name, names.fields))
      // A member of an object that is unknown is not one more.
      return all.filter(({prefix}) => !all.some(({name}) => prefix.startsWith(`${name}.`)))
    },
    /** Says which fields no document has, and which ones may be meant; where all are known, what the server says about their values. */
    showHint(wanted, hints = []) {
      const none = name => `None of the first 1,000 documents has the field "${visible(name, 100)}"`
      const unknownSort = termsOf(wanted).map(([name]) => name).filter(name => !isKnown(name, names.fields))
      const parts = [
        ...unknownSort.map(name => [`${none(name)} of the sort${meant(name, names.fields) || '.'} `]),
        ...self.unknownFields(wanted).map(({name, place, prefix}) => {
          const known = nearest(name, names.fields)
          return [`${none(name)}${meant(name, names.fields) || '.'} `, known?.startsWith(prefix) && button(`Use ${visible(known, 60)}`, () => {
            replaceName(field, wanted, place, known.slice(prefix.length))
            field.area.focus()
            return run()
          })]
        }),
      ]
      if (!parts.length) parts.push(...hints.map(text => [visible(text, 500)]))
      fill(hint, parts.map(part => el('div', {class: 'row'}, part)))
      hint.hidden = !parts.length
    },
  }
  return self
}

// MARK: Completion

/** The field whose value comes next in JSON: `{"state": "` and `{"state": {"$in": ["open", "`. */
const fieldOfValue = /"((?:[^"\\]|\\.)*)"\s*:\s*(?:\{\s*"\$\w+"\s*:\s*)?(?:\[[^\]{}]*)?$/
/** The same in conditions: `state = ` and `state in ["open", `. */
const fieldOfCondition = /(?:"((?:[^"\\]|\\.)*)"|([^\s"'{}[\](),:=<>!]+))\s*(?:(?:[=!<>]=?|==)\s*|\bin\s*\[(?:[^\]]*,)?\s*)$/i

function valuesOf({values}, match) {
  if (!match) return null
  const name = match[1] === undefined ? match[2] : JSON.parse(`"${match[1]}"`)
  return values.get(name) ?? []
}

/** What a text in quotes can be: a value of the field before it, an operator, or a field. */
function completions(names, begun, before) {
  const known = valuesOf(names, fieldOfValue.exec(before) ?? fieldOfCondition.exec(before))
  return (known ?? (begun.startsWith('$') ? names.operators : names.fields)).filter(name => name.startsWith(begun))
}

/** What a word without quotes can be, in conditions and in JSON without quotation marks. */
function words(names, begun, before) {
  const known = valuesOf(names, fieldOfCondition.exec(before))
  if (known) return known.filter(value => value.startsWith(begun)).map(value => JSON.stringify(value))
  if (!begun) return []
  if (begun.startsWith('$')) return names.operators.filter(name => name.startsWith(begun))
  // After a field there is a sign, and after a value `and` or `or`.
  if (!/(^|[{(,]|\b(and|or))\s*$/i.test(before)) return []
  return names.fields.filter(name => name.startsWith(begun)).map(name => /^[^\s"'{}[\](),:=<>!]+$/.test(name) ? name : JSON.stringify(name))
}

// MARK: Names

function meant(name, fields) {
  const field = nearest(name, fields)
  return field && `; did you mean "${visible(field, 100)}"?`
}

/** Writes another name at a place of the filter: in its JSON, or in place of the word. */
function replaceName(field, wanted, place, name) {
  let range
  try {
    parse(field.value, (path, start, end) => { if (path.join('\n') === place.join('\n')) range ??= [start, end] })
    field.value = field.value.slice(0, range[0]) + JSON.stringify(name) + field.value.slice(range[1])
  } catch {
    const at = field.value.indexOf(place.at(-1))
    field.value = field.value.slice(0, at) + name + field.value.slice(at + place.at(-1).length)
  }
}
