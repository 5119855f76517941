"""How compiled code is compiled: Numba's way, but every function once instead of at every level.

Numba optimizes each function by itself, down to machine code, and again as a part of each of its
callers: what is called five levels down is optimized six times, and nobody ever calls what comes of
the first five. Here a callee is only translated to LLVM's code (`Library`); the loop that Python
calls is optimized, with all that it calls, and becomes machine code. The translation leaves out
passes that find nothing in kernels (`Passes`), and callees are told apart by what they inherit from
their callers instead of by all of their callers' options (`Inherited`).

This relies on Numba's inside (0.61 to 0.68 were tried). What is not as expected, and functions with
closures, `with` or exceptions, are compiled by Numba's own pipeline: slower, with the same result.
"""

from __future__ import annotations

import dis
import gc
import inspect
from types import CodeType
from typing import Any, NamedTuple

from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager, _pass_registry
from numba.core.errors import NumbaError
from numba.core.targetconfig import ConfigStack


class Library(JITCodeLibrary):  # type: ignore[misc]
    """A function's code, not optimized before somebody wants to run it.

    Then the code of everything that it calls becomes a part of it.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._linking_libraries: list[Any] = []
        # What functions need at run time, by the names of variables, until these have addresses.
        self._environments: dict[str, Any] = {}

    def add_linking_library(self, library: Any) -> None:
        """Call what is in another library. (Numba's would optimize that one first.)"""
        self._linking_libraries.append(library)

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function, 0 where it is not here: as callees have no wrappers."""
        if not self._finalized and name not in self._defined():
            return 0
        return int(super().get_pointer_to_function(name))

    def _defined(self) -> set[str]:
        functions = self._final_module.functions
        return {function.name for function in functions if not function.is_declaration}

    @property
    def codegen(self) -> Any:
        """What sets environments: this library, until it has been optimized."""
        return self._codegen if self._finalized else self

    def set_env(self, name: str, environment: Any) -> None:
        """Keep an environment for `finalize`."""
        self._environments[name] = environment

    def finalize(self) -> None:
        """Take in the code of all that is called, from wherever, and optimize the whole."""
        own, environments = self._defined(), dict(self._environments)
        seen, waiting = {self}, self._linking_libraries
        self._linking_libraries = []
        while waiting:
            library = waiting.pop()
            if library in seen:
                continue
            seen.add(library)
            self._reload_init.update(library._reload_init)
            if library._finalized:
                self._linking_libraries.append(library)
            else:
                waiting.extend(library._linking_libraries)
                environments.update(getattr(library, "_environments", {}))
                self._final_module.link_in(library._final_module, preserve=True)
        # Only now: LLVM does not link what may be left out and has no caller yet.
        for function in self._final_module.functions:
            if function.name not in own and not function.is_declaration:
                function.linkage = "linkonce_odr"
        super().finalize()
        variables = {variable.name for variable in self._final_module.global_variables}
        for name in environments.keys() & variables:
            self._codegen.set_env(name, environments[name])


class Inherited(Flags):  # type: ignore[misc]
    """Options that callees inherit, one object for all callers that have the same.

    Numba compiles a callee for each set of its callers' options, and compares them at each call.
    """

    __hash__ = object.__hash__
    _known: dict[tuple[Any, ...], Inherited] = {}
    # A matter of the caller alone.
    _OWN = ("release_gil", "no_cpython_wrapper", "no_cfunc_wrapper")

    def __eq__(self, other: object) -> bool:
        return self is other

    def copy(self) -> Flags:
        """Options to change: no object of this kind."""
        return Flags(self)

    @classmethod
    def of(cls, flags: Any) -> Inherited:
        """What a function compiled with these options hands on."""
        values = flags.values()
        names = [name for name in values if flags.is_set(name) and name not in cls._OWN]
        key = tuple((name, repr(values[name])) for name in sorted(names))
        if key not in cls._known:
            inherited = cls()
            for name in names:
                setattr(inherited, name, values[name])
            cls._known[key] = inherited
        return cls._known[key]


class Notes(NamedTuple):
    """The types in a function, for `testing.signs`."""

    typemap: Any
    calltypes: Any

    def __repr__(self) -> str:
        # Kept with the compiled code.
        return ""


class Passes(PassManager):  # type: ignore[misc]
    """Numba's passes but for those of closures, `with`, literals, array expressions, reports.

    Nor is the translated function checked after each of them.
    """

    KINDS = (
        untyped_passes.TranslateByteCode,
        untyped_passes.FixupArgs,
        untyped_passes.IRProcessing,
        untyped_passes.RewriteSemanticConstants,
        untyped_passes.GenericRewrites,
        untyped_passes.InlineInlinables,
        untyped_passes.DeadBranchPrune,
        untyped_passes.ReconstructSSA,
        typed_passes.NopythonTypeInference,
        typed_passes.PreLowerStripPhis,
        typed_passes.IRLegalization,
        typed_passes.NativeLowering,
        typed_passes.NoPythonBackend,
    )

    def __init__(self) -> None:
        super().__init__("nopython")
        for kind in self.KINDS:
            self.add_pass(kind, kind.__name__)
        self.finalize()

    def run(self, state: Any) -> None:
        """Translate a function."""
        with ConfigStack().enter(Inherited.of(state.flags)):
            for kind, description in self.passes:
                one = _pass_registry.get(kind).pass_inst
                one.analysis = self._analysis
                try:
                    one.run_pass(state)
                except NumbaError as error:
                    raise self._patch_error(f"Failed in {description}", error) from error
                if kind is typed_passes.NopythonTypeInference:
                    state.type_annotation = Notes(state.typemap, state.calltypes)

    @staticmethod
    def suffice(code: CodeType) -> bool:
        """Whether a function has nothing that needs the passes left out."""
        if code.co_flags & inspect.CO_GENERATOR or {"literally", "literal_unroll"} & {
            *code.co_names
        }:
            return False
        if any(isinstance(constant, CodeType) for constant in code.co_consts):
            return False
        names = {instruction.opname for instruction in dis.get_instructions(code)}
        return not names & {"RAISE_VARARGS", "BEFORE_WITH", "LOAD_SPECIAL", "PUSH_EXC_INFO"}


class CalleeCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles what only compiled code calls."""

    _passes: Passes | None = None

    def define_pipelines(self) -> list[Any]:
        """Where the function's code goes, and how it gets there."""
        state = self.state
        if state.library is None:
            library = Library(state.targetctx.codegen(), state.func_id.func_qualname)
            # Of what Numba has elsewhere from now on, nothing is changed.
            if all(hasattr(library, name) for name in _NEEDED):
                state.library = library
                library.enable_object_caching()
        if state.library is None or not Passes.suffice(state.func_id.code):
            return [DefaultPassBuilder.define_nopython_pipeline(state)]
        if CalleeCompiler._passes is None:
            CalleeCompiler._passes = Passes()
        return [CalleeCompiler._passes]


class LoopCompiler(CalleeCompiler):
    """Compiles what Python calls."""

    def _compile_core(self) -> Any:
        # What is compiled is kept: to look for garbage in between finds none, in a tenth of the
        # time.
        collects = gc.isenabled()
        gc.disable()
        try:
            return super()._compile_core()
        finally:
            if collects:
                gc.enable()


# What `Library` needs of Numba's.
_NEEDED = ("_codegen", "_final_module", "_finalized", "_linking_libraries", "_reload_init")
