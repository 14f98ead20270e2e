# SPDX-License-Identifier: BSD-3-Clause
# Run by cmake --install: completion for bash and zsh, and manual pages, from what the installed programs say of themselves.
# Needs bin, share and version.
function(karst_words program)
  execute_process(COMMAND ${root}${bin}/${program} ${ARGN} OUTPUT_VARIABLE words RESULT_VARIABLE failed ERROR_VARIABLE problem)
  if(failed)
    message(FATAL_ERROR "${program} ${ARGN} failed: ${problem}")
  endif()
  set(words "${words}" PARENT_SCOPE)
endfunction()

set(root $ENV{DESTDIR})
foreach(shell bash zsh)
  set(file_bash bash-completion/completions/karst)
  set(file_zsh zsh/site-functions/_karst)
  karst_words(karst completion ${shell})
  file(WRITE "${root}${share}/${file_${shell}}" "${words}")
  message(STATUS "Made: ${root}${share}/${file_${shell}}")
endforeach()

set(about_karst "pore-scale flow and reactive transport from images of rocks")
set(about_karst-make-image "synthetic CT images of rocks whose geometry is known exactly")
foreach(program karst karst-make-image)
  karst_words(${program} --help)
  string(REPLACE "\\" "\\e" words "${words}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" words "${words}")
  string(REPLACE "-" "\\-" words "${words}")
  string(REPLACE "-" "\\-" name "${program}")
  string(TOUPPER ${program} title)
  file(WRITE "${root}${share}/man/man1/${program}.1"
    ".TH ${title} 1 \"\" \"karst ${version}\"\n.SH NAME\n${name} \\- ${about_${program}}\n.SH DESCRIPTION\n.nf\n${words}.fi\n"
    ".SH SEE ALSO\n${share}/doc/karst/README.md; `karst COMMAND \\-\\-help` and `karst help` for all keys of a deck\n")
  message(STATUS "Made: ${root}${share}/man/man1/${program}.1")
endforeach()
