import { describe, expect, it } from 'vitest';
import { redeclarable } from '../../../tools/code/repl/redeclare.ts';

describe('code of the REPL', () => {
  it.each([
    ['const a = 1', 'var   a = 1'],
    ['let a', 'var a'],
    ['const {a, b: [c]} = await f()\nlet d = 2', 'var   {a, b: [c]} = await f()\nvar d = 2'],
    ['if (x) { const y = 1 }', 'if (x) { const y = 1 }'],
    ['for (const x of y) z(x)', 'for (const x of y) z(x)'],
    ['const f = () => { let x = 1; return x }\nconst g = 2', 'var   f = () => { let x = 1; return x }\nvar   g = 2'],
    ['class A { m() { return /[}]/ } }\nnew A()', 'var A = class A { m() { return /[}]/ } };\nnew A()'],
    ['class B extends A {}', 'var B = class B extends A {};'],
    ['x = class C {}', 'x = class C {}'],
    ['let = 5; x.const = 1; ({ const: 2 })', 'let = 5; x.const = 1; ({ const: 2 })'],
    ['\'const a\'; `const ${(() => { const b = `let c`; return b })()} let d`; "let e"', undefined],
    ['// const a\n/* let b */ f()', undefined],
    ['a = b / c; s = "const x"; d = e / f', undefined],
    ['if (x) /"/.test(y); s = "const z"', undefined],
    ['x++ / 2; y = "const z" / 3', undefined],
    ['s = `a ${ { b: 1 }.b / 2 } const c`', undefined],
  ])('makes what %j declares declarable again', (code, expected = code) => {
    expect(redeclarable(code)).toBe(expected);
  });

  it.each(['const a = (', 'const a = "x', 'const b = `x ${', 'const c = )', 'const d = /x', 'const e = 1 /* x'])(
    'leaves %j, which it cannot follow, as it is',
    (code) => expect(redeclarable(code)).toBe(code),
  );

  it('takes time in proportion to the code', () => {
    const startedMs = performance.now();
    redeclarable(`${'(['.repeat(25_000)}`);
    redeclarable('`${'.repeat(30_000));
    redeclarable('/a'.repeat(50_000));
    redeclarable('/*'.repeat(50_000));
    redeclarable(`/${'['.repeat(99_000)}`);
    redeclarable(`"${'\\'.repeat(99_000)}`);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});
