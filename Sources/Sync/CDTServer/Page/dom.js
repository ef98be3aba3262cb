// Elements are made from texts alone: nothing of a document is ever read as markup.

/**
 * An element with attributes, listeners (`onclick`) and children: texts, elements and arrays of them; null is left out.
 *
 *     el('button', {type: 'button', onclick: save}, 'Save')
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else if (value === true) element.setAttribute(key, '')
    else if (value !== false && value != null) element.setAttribute(key, value)
  }
  append(element, children)
  return element
}

export function append(element, ...children) {
  element.append(...children.flat(Infinity).filter(child => child != null && child !== false))
}

/** Replaces what an element has. */
export function fill(element, ...children) {
  element.replaceChildren()
  append(element, children)
  return element
}

/** A button with a label, which is disabled while its action runs; an error of the action is shown. */
export function button(label, action, attributes = {}) {
  const element = el('button', {type: 'button', ...attributes}, label)
  element.addEventListener('click', () => during(element, action))
  return element
}

/** Runs an action while a button or a form's button is disabled. */
export async function during(element, action) {
  if (element.getAttribute('aria-disabled') === 'true') return
  // Not `disabled`, which would take the focus away.
  element.setAttribute('aria-disabled', 'true')
  // What was said before is about something else.
  say('')
  try {
    await action()
  } catch (error) {
    tell(error)
  } finally {
    element.removeAttribute('aria-disabled')
  }
}

/** What a form listens with: runs an action when it is sent, while its button is disabled. */
export function sends(submit, action) {
  return event => {
    event.preventDefault()
    during(submit, action)
  }
}

/** An element of a drawing. */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) if (value != null) element.setAttribute(key, value)
  element.append(...children)
  return element
}

/** A picture of the sprite, beside a text or in something that has a name. */
export function icon(name) { return svg('svg', {class: 'icon', 'aria-hidden': 'true'}, svg('use', {href: `icons.svg#${name}`})) }

/** A field with a label around it. */
export function labeled(label, field) {
  return el('label', {}, el('span', {}, label), field)
}

/** Says something to everybody, also to those who don't see it. */
export function say(text, isError = false) {
  const status = document.getElementById('status')
  status.textContent = ''
  status.classList.toggle('error', isError)
  status.textContent = text
}

/**
 * Asks something in a dialog, which stays until its action has succeeded: an error is shown in it. It shows what the action returns;
 * if that is nothing, it closes. Cancel and Escape ask first if something in it has the attribute `data-unsaved`.
 *
 * @param cancel Called when the dialog closes.
 */
export function asked(question, label, action, cancel, ...content) {
  const problem = el('p', {class: 'problem', role: 'alert'})
  const submit = el('button', {class: /^(Delete|Remove)/.test(label) ? 'danger' : null}, label)
  const mayClose = () => !submit.isConnected || !dialog.querySelector('[data-unsaved]') || confirm('Close without your text?')
  const close = el('button', {type: 'button', autofocus: true, onclick: () => { if (mayClose()) dialog.close() }}, 'Cancel')
  const leave = () => dialog.close()
  const buttons = el('p', {class: 'row'}, submit, close)
  const dialog = el('dialog', {
    'aria-labelledby': 'question',
    // What runs is ended by the button alone. A browser does not let a page refuse Escape twice, but it lets it take the key.
    oncancel: event => { if (submit.hasAttribute('aria-disabled')) event.preventDefault() },
    onkeydown: event => { if (event.key === 'Escape' && !event.defaultPrevented && (submit.hasAttribute('aria-disabled') || !mayClose())) event.preventDefault() },
    onclose: () => {
      removeEventListener('hashchange', leave)
      cancel?.()
      dialog.remove()
    },
  }, el('form', {
    onsubmit: sends(submit, async () => {
      problem.textContent = ''
      try {
        const result = await action()
        if (!result) return dialog.close()
        close.textContent = 'Close'
        submit.remove()
        buttons.prepend(...result)
        close.focus()
      } catch (error) {
        problem.textContent = visible(error.message, 2_000)
        if (!dialog.open) tell(error)
      }
    }),
  }, el('h2', {id: 'question'}, question), content, problem, buttons))
  // Where something is typed, that is first.
  if (dialog.querySelector('input, textarea')) close.autofocus = false
  // Not in the view, which may have its content only now.
  document.body.append(dialog)
  dialog.showModal()
  addEventListener('hashchange', leave)
}

/** Asks something in a dialog; returns whether it was answered with the button that has the label. */
export function answered(question, label, ...content) {
  return new Promise(resolve => asked(question, label, () => resolve(true), () => resolve(false), ...content))
}

/** Asks whether to do something with what has a name. */
export function confirmed(question, name, label = 'Delete') { return answered(question, label, el('p', {}, text(name, 200))) }

/** What the view that is shown next begins with. */
let next = ''

export function sayNext(text) { next = text }

/** Ends what was said in the view before. */
export function sayInNewView() {
  say(next)
  next = ''
}

export function tell(error) {
  if (error.name === 'AbortError') return
  say(error.message ?? String(error), true)
}

// Characters that are not seen, or that change the direction of those after them.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** A text of a document, cut after some characters, in which hidden characters are seen as escapes. */
export function visible(text, limit = 300) {
  const cut = text.length > limit ? text.slice(0, limit).replace(/[\ud800-\udbff]$/, '') + '…' : text
  return cut.replace(hidden, character => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'))
}

/** A text of a document in an element that keeps its direction to itself. */
export function text(value, limit) {
  return el('bdi', {}, visible(value, limit))
}

/** A revision, of which eight characters of the digest are seen. The whole is seen on hover, and copied. */
export function revision(rev) {
  const short = shortRevision(rev)
  if (short.length >= rev.length) return text(rev, 60)
  return el('bdi', {class: 'revision', title: visible(rev)}, short, el('span', {class: 'tail'}, visible(rev.slice(short.length))))
}

/** The beginning of a revision, for names and messages. */
export function shortRevision(rev) { return visible(rev.replace(/^(\d+-.{8}).+$/s, '$1'), 60) }

/** A button that writes a text to the clipboard. */
export function copyButton(text, label = 'Copy') {
  return button(label, async () => {
    const copied = text()
    if (await copy(copied)) return say('Copied.')
    throw new Error('The browser lets pages of other machines write to the clipboard only with TLS; select the text and copy it.')
  })
}

/** Writes to the clipboard; returns whether that is allowed. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** The hidden field with which a browser asks for a file. */
export function fileInput(take) {
  return el('input', {type: 'file', hidden: true, onchange: ({target}) => {
    const [chosen] = target.files
    // So that the same file can be chosen again.
    target.value = ''
    if (chosen) take(chosen)
  }})
}

/** A text as one word of a shell. */
export function shellQuoted(text) { return `'${text.replaceAll("'", "'\\''")}'` }

/** Lets the browser save a file. */
export function saveFile(name, blob) {
  const url = URL.createObjectURL(blob)
  el('a', {href: url, download: name}).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** The class of what is shown only to those who may change a document: its server is not read-only, and design documents are for admins. */
export function edits(id) { return {class: id.startsWith('_design/') ? 'edits admins' : 'edits'} }

export function count(number, noun, nouns = noun + 's') {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : nouns}`
}

export function bytes(number) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let unit = 0
  for (; number >= 1000 && unit < units.length - 1; unit++) number /= 1000
  return `${number.toLocaleString('en', {maximumFractionDigits: unit ? 1 : 0})} ${units[unit]}`
}

/** A table: the names of its columns, and its rows of cells. A column whose name ends in # has numbers. */
export function table(caption, columns, rows) {
  const isNumber = columns.map(name => name.endsWith('#'))
  const cell = (value, column) => el('td', {class: isNumber[column] ? 'number' : null}, value)
  return el('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': caption},
    el('table', {}, el('caption', {class: 'hidden'}, caption),
      el('thead', {}, el('tr', {}, columns.map((name, column) =>
        el('th', {scope: 'col', class: isNumber[column] ? 'number' : null}, name.replace(/#$/, ''))))),
      el('tbody', {}, rows.map(row => el('tr', {}, row.map(cell))))))
}

/** A bar as long as a share of the whole. */
export function bar(share) {
  const element = el('span', {class: 'bar', 'aria-hidden': 'true'})
  element.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`
  return element
}

/** A few choices of which one is chosen. */
export function choice(legend, name, options, chosen, onchange) {
  return el('fieldset', {class: 'choice'}, el('legend', {class: 'hidden'}, legend), options.map(option =>
    el('label', {}, el('input', {
      type: 'radio', name, value: option, checked: option === chosen, onchange: () => onchange(option),
    }), option)))
}
