/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** All of libblkalign's public interface. */
#ifndef BLKALIGN_BLKALIGN_H
#define BLKALIGN_BLKALIGN_H

#include <blkalign/attr.h>
#include <blkalign/check.h>
#include <blkalign/copy.h>
#include <blkalign/create.h>
#include <blkalign/error.h>
#include <blkalign/graph.h>
#include <blkalign/locate.h>
#include <blkalign/metadata.h>
#include <blkalign/rebuild.h>
#include <blkalign/run.h>
#include <blkalign/scrub.h>
#include <blkalign/source.h>
#include <blkalign/text.h>
#include <blkalign/undo.h>
#include <blkalign/version.h>

#endif
