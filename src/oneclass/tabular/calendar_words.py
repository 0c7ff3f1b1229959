"""Names of months and of weekdays in the commonest languages."""

from __future__ import annotations

import re
import unicodedata

from .variants import folded

__all__ = ["MONTHS", "WEEKDAYS", "bare", "with_month_numbers"]

#: Names and their abbreviations, in English, German, French, Spanish, Italian, Portuguese, Dutch and
#: the Scandinavian languages. No word is the name of two months.
MONTHS = (
    "january|jan,february|feb,march|mar,april|apr,may,june|jun,july|jul,august|aug,september|sep|sept,october|oct,"
    "november|nov,december|dec",
    "januar|jan|jänner,februar|feb|feber,märz|mar|mrz|maerz,april|apr,mai,juni|jun,juli|jul,august|aug,"
    "september|sep|sept,oktober|okt,november|nov,dezember|dez",
    "janvier|janv|jan,février|févr|fév,mars|mar,avril|avr,mai,juin,juillet|juil,août|aoû,septembre|sept|sep,"
    "octobre|oct,novembre|nov,décembre|déc",
    "enero|ene,febrero|feb,marzo|mar,abril|abr,mayo|may,junio|jun,julio|jul,agosto|ago,septiembre|setiembre|sept|sep,"
    "octubre|oct,noviembre|nov,diciembre|dic",
    "gennaio|gen,febbraio|feb,marzo|mar,aprile|apr,maggio|mag,giugno|giu,luglio|lug,agosto|ago,settembre|set|sett,"
    "ottobre|ott,novembre|nov,dicembre|dic",
    "janeiro|jan,fevereiro|fev,março|mar,abril|abr,maio|mai,junho|jun,julho|jul,agosto|ago,setembro|set,outubro|out,"
    "novembro|nov,dezembro|dez",
    "januari|jan,februari|feb,maart|mrt,april|apr,mei,juni|jun,juli|jul,augustus|aug,september|sep|sept,oktober|okt,"
    "november|nov,december|dec",
    "januari|januar|jan,februari|februar|feb,mars|marts|mar,april|apr,maj|mai,juni|jun,juli|jul,augusti|august|aug,"
    "september|sep|sept,oktober|okt,november|nov,december|desember|dec|des",
)
WEEKDAYS = (
    "monday|mon,tuesday|tue|tues,wednesday|wed,thursday|thu|thur|thurs,friday|fri,saturday|sat,sunday|sun",
    "montag|mo,dienstag|di,mittwoch|mi,donnerstag|do,freitag|fr,samstag|sonnabend|sa,sonntag|so",
    "lundi|lun,mardi|mar,mercredi|mer,jeudi|jeu,vendredi|ven,samedi|sam,dimanche|dim",
    "lunes|lun,martes|mar,miércoles|mié,jueves|jue,viernes|vie,sábado|sáb,domingo|dom",
    "lunedì|lun,martedì|mar,mercoledì|mer,giovedì|gio,venerdì|ven,sabato|sab,domenica|dom",
    "segunda-feira|segunda|seg,terça-feira|terça|ter,quarta-feira|quarta|qua,quinta-feira|quinta|qui,"
    "sexta-feira|sexta|sex,sábado|sáb,domingo|dom",
    "maandag|ma,dinsdag|di,woensdag|wo,donderdag|do,vrijdag|vr,zaterdag|za,zondag|zo",
    "måndag|mandag|mån|man,tisdag|tirsdag|tis|tir,onsdag|ons,torsdag|tors|tor,fredag|fre,lördag|lørdag|lör|lør,"
    "söndag|søndag|sön|søn",
)
_WORD = re.compile(r"([^\W\d_]{3,})\.?")
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae"})


def bare(word: str) -> str:
    """The word in lower case, without accents and without the point of an abbreviation.

    >>> bare("Févr.")
    'fevr'
    """
    parts = unicodedata.normalize("NFD", folded(word).translate(_LETTERS))
    return "".join(part for part in parts if not unicodedata.combining(part)).removesuffix(".")


#: The number of each month by its names.
_NUMBERS = {
    bare(word): i for line in MONTHS for i, level in enumerate(line.split(","), start=1) for word in level.split("|")
}


def with_month_numbers(text: str) -> str:
    """The text with the number of each month instead of its name.

    >>> with_month_numbers("3. März 2024")
    '3. 3 2024'
    """
    return _WORD.sub(lambda found: str(_NUMBERS.get(bare(found[1]), found[0])), text)
